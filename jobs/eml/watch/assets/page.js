// What Dash does not do for this page: light and dark, copying, a rest while hidden, and a reader's place kept.
// Until Dash has drawn, the document's own copy of the screen (#early) is seen.
// Loaded in the document's head, before anything is drawn.
"use strict";

(() => {
  const root = document.documentElement;
  const darkByDefault = window.matchMedia("(prefers-color-scheme: dark)");

  // -- light and dark: the system's choice, until the reader makes one
  const chosen = () => { try { return localStorage.getItem("eml-theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("eml-theme", theme); } catch { /* a private window forgets */ } };
  const isDark = () => (root.dataset.theme ?? (darkByDefault.matches ? "dark" : "light")) === "dark";
  const tellSwitch = () => document.getElementById("theme")?.setAttribute("aria-pressed", String(isDark()));
  if (chosen() === "dark" || chosen() === "light") root.dataset.theme = chosen();
  darkByDefault.addEventListener("change", tellSwitch);

  const switchTheme = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keep(root.dataset.theme);
    tellSwitch();
  };

  // -- copying: also where the page came over plain http from another machine, and browsers keep the clipboard closed
  const copyBySelection = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  };
  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    let done = false;
    try {
      await navigator.clipboard.writeText(code.textContent);
      done = true;
    } catch { done = copyBySelection(code); }
    button.textContent = done ? "Copied" : "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (button?.id === "theme") switchTheme();
    if (button?.classList.contains("copy")) copy(button);
  });

  // -- a server that is gone: what is shown grows old, and says so
  const ask = window.fetch.bind(window);
  const answered = (well) => { if (well) delete root.dataset.away; else root.dataset.away = ""; };
  window.fetch = async (...asked) => {
    try {
      const answer = await ask(...asked);
      answered(answer.ok);
      return answer;
    } catch (error) {
      answered(false);
      throw error;
    }
  };

  // -- a hidden page asks for nothing
  document.addEventListener("visibilitychange", () => {
    window.dash_clientside?.set_props?.("tick", { disabled: document.hidden });
  });

  // -- a reader's place: Dash builds what changed anew; ids stay, so focus and opened details find their element again
  let focused = null;
  let heading = null;
  const opened = new Set();
  document.addEventListener("focusin", (event) => { focused = event.target.id || null; });
  document.addEventListener("focusout", (event) => {
    if (event.target.isConnected && event.relatedTarget) focused = null;
  });
  document.addEventListener("toggle", (event) => {
    if (!event.target.id || !event.target.isConnected) return;
    if (event.target.open) opened.add(event.target.id); else opened.delete(event.target.id);
  }, true);

  const findPlace = () => {
    const title = document.querySelector("#react-entry-point main h1");
    if (title) document.getElementById("early")?.remove();
    if (title && heading !== location.pathname) {
      const first = heading === null;
      heading = location.pathname;
      opened.clear();
      if (!first && document.activeElement?.id !== "find") title.focus({ preventScroll: true });
    } else if (focused && document.activeElement === document.body) {
      document.getElementById(focused)?.focus({ preventScroll: true });
    }
    for (const id of opened) {
      const details = document.getElementById(id);
      if (details && !details.open) details.open = true;
    }
    for (const place of document.querySelectorAll(".place")) {
      if (place.classList.contains("here")) place.setAttribute("aria-current", "page");
      else place.removeAttribute("aria-current");
    }
    if (title) document.title = `${title.textContent} · EML watch`;
    tellSwitch();
  };

  document.addEventListener("DOMContentLoaded", () => {
    const changes = { childList: true, subtree: true, attributeFilter: ["class"] };
    new MutationObserver(findPlace).observe(document.getElementById("react-entry-point"), changes);
  });
})();
