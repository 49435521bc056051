"""The hook of MkDocs: pages that do not stand in docs/, and links that work both here and in the repository.

Called by `mkdocs build` (mkdocs.yml). Adds the pages that `tools.reference` made from the code and the repository's own
(README files, CHANGELOG, ...), so that none is written twice. In every page links are relative to where its file stands
in the repository: a link to a file that is a page here becomes a link to the page, one to any other file of the
repository becomes its name. A link to a file that does not exist is left alone, and `--strict` makes it an error.
A page that loads anything from another host stops the build.
"""

import re
from os.path import normpath
from pathlib import Path
from posixpath import dirname, relpath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {  # files outside docs/, and their pages
    "schemas/README.md": "howto/schemas.md",
    "deploy/README.md": "howto/cluster.md",
    "deploy/FAILURES.md": "reference/failures.md",
    "docker/README.md": "howto/docker.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "build/reference/settings.md": "reference/settings.md",
    "build/reference/metrics.md": "reference/metrics.md",
    "build/reference/topics.md": "reference/topics.md",
    "build/reference/cli.md": "reference/cli.md",
}
ELSEWHERE = {"README.md": "index.md"}  # what README is in the repository, the first page is here
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"(?P<text>!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
FOREIGN = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"'](?:https?:)?//[^>]*>")
FENCE = re.compile(r"^( *```.*?^ *```)", re.MULTILINE | re.DOTALL)
BEFORE_LIST = re.compile(r"^(?!- |\* |[|>#\s]|\d+\. ).+\n(?=(?:- |1\. ))", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401  MkDocs' own
    """Add the pages that stand elsewhere."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401
    """The page with links as they are here."""
    uri = page.file.src_uri
    source = SOURCES.get(uri, f"docs/{uri}")
    parts = FENCE.split(markdown)
    return "".join(part if part.lstrip().startswith("```") else _text(part, source, uri) for part in parts)


def _text(text: str, source: str, uri: str) -> str:
    """Text between blocks of code. Python's Markdown wants an empty line before a list."""
    return _linked(BEFORE_LIST.sub(r"\g<0>\n", text), source, uri)


def on_post_page(output: str, page: Any, **_: Any) -> str:  # noqa: ANN401
    """Refuse a page that would load something from another host: the site works without a network."""
    foreign = FOREIGN.findall(output)
    if foreign:
        raise PluginError(f"{page.file.src_uri} loads from another host: {', '.join(foreign)}")
    return output


def _linked(text: str, source: str, uri: str) -> str:
    def mended(found: re.Match[str]) -> str:
        target = found["target"]
        if re.match(r"[a-z]+:", target):
            return found[0]
        path = normpath(f"{dirname(source)}/{target}") if dirname(source) else normpath(target)
        here = PAGES.get(path) or ELSEWHERE.get(path)
        if here is None and path.startswith("docs/"):
            here = path.removeprefix("docs/")
        if here is not None:
            return f"{found['text']}({relpath(here, dirname(uri) or '.')}{found['anchor'] or ''})"
        return found["text"][1:-1] if (ROOT / path).exists() else found[0]

    return LINK.sub(mended, text)
