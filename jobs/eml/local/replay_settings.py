"""The settings of a replay: those of the job, without what only a running job needs.

Called by `eml replay` and `eml check`; calls `settings.loading`. Addresses, credentials and files of the cluster are
neither needed nor looked at: a file of settings can be used on a machine that has none of them.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from eml.settings import Settings
from eml.settings.loading import Draft

UNUSED = ("kafka.", "job.")
REGISTRY = "registry."
USED = ("kafka.readings_topic", "kafka.labels_topic")
# A job must have them; a replay asks nobody.
PLACEHOLDERS = {"kafka.bootstrap_servers": "replay:1", "registry.url": "http://replay"}


def load(
    path: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    overrides: Mapping[str, object] = {},
    *,
    with_registry: bool = False,
) -> Settings:
    """What a replay uses of a job's file (`path`, else the one EML_SETTINGS names, else none) and environment.

    With the registry's section, where somebody is to be asked after all.
    """
    unused = UNUSED if with_registry else (*UNUSED, REGISTRY)
    draft = Draft.of(path, environ)
    draft.add_overrides(overrides)
    for name in [name for name in draft.values if name.startswith(unused) and name not in USED]:
        del draft.values[name]
    draft.add_overrides({name: value for name, value in PLACEHOLDERS.items() if name.startswith(unused)})
    return draft.finished()
