"""What screen readers are told about an element, as properties of its component."""

from typing import Any

UNHEARD: dict[str, Any] = {"aria-hidden": "true"}  # the text beside it says the same
PRESSED: dict[str, Any] = {"aria-pressed": "false"}  # the script says when it is


def labelled(text: str) -> dict[str, Any]:
    """The name of an element."""
    return {"aria-label": text}
