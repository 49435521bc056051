"""What can go wrong on the way to a table, said to the person who typed the command.

EmlError
└── EvaluationError     a name, a file or a number that cannot be evaluated; the message says what would be
"""

import difflib
from collections.abc import Iterable, Sequence

from eml.core.errors import EmlError


class EvaluationError(EmlError):
    """The command asks for something that cannot be run; the message says what to change."""

    exit_status = 2  # eml.terminal.USAGE


def resolve_names(names: Iterable[str], known: Sequence[str], what: str) -> list[str]:
    """Return `names` as `known` spells them, `all` standing for every one, none twice.

    >>> resolve_names(["usps0vs5"], ["Splice", "USPS0vs5"], "data set")
    ['USPS0vs5']
    """
    folded = {name.casefold(): name for name in known}
    spelt: list[str] = []
    for name in names:
        if name == "all":
            spelt += known
        elif name.casefold() in folded:
            spelt.append(folded[name.casefold()])
        else:
            near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.0)  # however far
            raise EvaluationError(
                f"there is no {what} {name!r}; the nearest is {folded[near[0]]!r} (known: {', '.join(known)}, or all)"
            )
    return list(dict.fromkeys(spelt))
