"""What a figure depends on beside its trial: the code it was made with, the settings, the data, the packages.

Called by the scenarios' forms. Code is compared as the compiler sees it, without comments, docstrings and layout, and
only the code of the method in question: a change of one rival leaves the figures of all others standing, and a change
of the learner those of the rivals.
"""

import ast
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import eml
from eml import __version__
from eml.evaluate.errors import EvaluationError
from eml.evaluate.trial import Source, dataset_of

_ROOT = Path(eml.__file__).parent
_DIGITS = 12  # of a hash; enough to tell a handful of versions apart
_REGISTRY = "REGISTRY"  # a table of methods: a new one in it changes no other
# Where imports of the harness are not followed, as in modules with a registry: data, which count by their values,
# names, messages, and the paper's trial, which the stream's takes its data sets from.
_APART = (
    "eml.evaluate.trial",
    "eml.evaluate.datasets",
    "eml.evaluate.own",
    "eml.evaluate.catalogue",
    "eml.evaluate.errors",
)


def made_of(sources: str, settings: Mapping[str, Any], data: str, packages: Sequence[str]) -> dict[str, str]:
    """All that a figure depends on, each in a few characters."""
    return {
        "eml": __version__,
        "sources": sources,
        "settings": short(json.dumps(settings, sort_keys=True).encode()),
        "data": data,
        "packages": ", ".join(packages),
    }


def short(*parts: bytes) -> str:
    """The first digits of a sha256 over parts, each told from the next."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:_DIGITS]


@cache
def data_checksum(source: Source) -> str:
    """Of the samples as they are dealt: of the file, and of how its columns and classes are chosen."""
    dataset = dataset_of(source)
    shape = f"{dataset.X.shape} {dataset.split} {dataset.total}"
    return short(shape.encode(), dataset.X.tobytes(), "\n".join(map(str, dataset.y.tolist())).encode())


@cache
def installed() -> tuple[str, ...]:
    """The packages that the core computes with, and their versions here."""
    return tuple(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "pot"))


def code_checksum(modules: Iterable[str]) -> str:
    """Of `modules`, and of what those import of the harness and of the core."""
    return _code_checksum(tuple(sorted(set(modules))))


@cache
def _code_checksum(modules: tuple[str, ...]) -> str:
    return short(*(_plain(_path(module)).encode() for module in sorted(_followed(modules))))


def modules_of(factory: Callable[..., object]) -> list[str]:
    """The modules that a method's factory names: its own, and one that is handed to it by name to be imported later."""
    named: list[str] = []
    while isinstance(factory, partial):
        named += [part for part in (*factory.args, *factory.keywords.values()) if _is_module(part)]
        factory = factory.func
    return [factory.__module__, *named]


def _is_module(part: object) -> bool:
    return isinstance(part, str) and part.startswith("eml.")


def _followed(modules: Iterable[str]) -> set[str]:
    """The modules, and those of the harness and the core that they import, and so on."""
    waiting, seen = list(modules), set[str]()
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            only_core = _is_apart(module)
            waiting += [name for name in _imports(module) if _in_core(name) or not (only_core or _is_apart(name))]
    return seen


def _is_apart(module: str) -> bool:
    return module in _APART or _has_registry(_tree(_path(module)))


def _in_core(module: str) -> bool:
    return module.split(".")[:2] == ["eml", "core"]


def _imports(module: str) -> Iterator[str]:
    for node in ast.walk(_tree(_path(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("eml.evaluate", "eml.core")):
            yield from (_home(node.module or "", alias.name) for alias in node.names)


def _home(package: str, name: str) -> str:
    """The module that `from package import name` means: a part of the package, one it has the name from, or itself."""
    if _is_file(f"{package}.{name}"):
        return f"{package}.{name}"
    for node in ast.walk(_tree(_path(package))):
        if (
            isinstance(node, ast.ImportFrom)
            and name in {alias.name for alias in node.names}
            and _is_module(node.module)
        ):
            return str(node.module)
    return package


def _is_file(module: str) -> bool:
    return any(path.is_file() for path in _candidates(module))


def _path(module: str) -> Path:
    """The file of a module; found by its name, for a peer's cannot be imported here."""
    for path in _candidates(module):
        if path.is_file():
            return path
    raise EvaluationError(f"the source of {module} is not at hand, so nothing made with it can be kept")


def _candidates(module: str) -> tuple[Path, Path]:
    base = _ROOT.joinpath(*module.split(".")[1:])
    return base.with_suffix(".py"), base / "__init__.py"


def _plain(path: Path) -> str:
    """A module's code without docstrings, comments and layout; one with a registry also without it and its imports."""
    tree = _tree(path)
    if _has_registry(tree):
        tree.body = [node for node in tree.body if not _assigns(node, _REGISTRY) and not _is_import(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _has_registry(tree: ast.Module) -> bool:
    return any(_assigns(node, _REGISTRY) for node in tree.body)


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _assigns(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name) and node.target.id == name
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
