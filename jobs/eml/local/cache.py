"""Where the stack keeps what outlives a run: a folder of the user.

Called by `jars` (downloads) and by `background` (the stack of `eml local up`). It knows neither.
"""

import os
from pathlib import Path


def cache_folder() -> Path:
    """`EML_CACHE`, else `eml` in XDG_CACHE_HOME, else `~/.cache/eml`; made where it is not there."""
    own = os.environ.get("EML_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME")
    folder = Path(own) if own else (Path(shared) if shared else Path.home() / ".cache") / "eml"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.absolute()
