"""Imports a package when something in it is first used.

Called by `eml.core` for POT, and by the operator, which wants it before its first record. Its import, which brings
scikit-learn and pandas where they are installed, takes longer than that of all the rest, and settings, commands and
most calls of the learner do without it.
"""

import importlib
import sys
from types import ModuleType


class _Later(ModuleType):
    """Stands for a package that is not imported yet; `import` finds it and asks it nothing."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._imported(), name)

    def _imported(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        module = importlib.import_module(self.__name__)
        self.__dict__.update(vars(module))
        return module


def import_later(package: str) -> None:
    """Have the next `import package` cost nothing."""
    sys.modules.setdefault(package, _Later(package))


def import_now(package: str) -> None:
    """Import what was put off."""
    module = sys.modules[package]
    if isinstance(module, _Later):
        module._imported()  # noqa: SLF001  of this module
