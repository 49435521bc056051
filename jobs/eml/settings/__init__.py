"""The settings of a job: one file (TOML) and environment variables, read once into one frozen object.

First stop of a job: `job.main` loads them and hands each part its section. Nothing else reads the environment.

    sections   what there is to set, with the defaults
    loading    file, environment and command line become one object, or one error that lists all that is wrong
    kinds      a value of TOML becomes a value of a field
    checks     what no single field can tell
    showing    the settings as TOML again, without the secrets
    workers    the settings without what Flink's workers do not need
"""

from eml.settings.loading import SettingsError, load
from eml.settings.sections import (
    ON_CLUSTER,
    JobSettings,
    KafkaSettings,
    LearningSettings,
    LimitsSettings,
    ModelSettings,
    RecordSettings,
    RegistrySettings,
    Settings,
)
from eml.settings.showing import describe
from eml.settings.workers import for_workers

__all__ = [
    "ON_CLUSTER",
    "JobSettings",
    "KafkaSettings",
    "LearningSettings",
    "LimitsSettings",
    "ModelSettings",
    "RecordSettings",
    "RegistrySettings",
    "Settings",
    "SettingsError",
    "describe",
    "for_workers",
    "load",
]
