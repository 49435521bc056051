"""Evolving metric learning for fleets of sensors whose features come and go."""

# The one place of the version: pyproject.toml reads it from here. A constant, not package metadata,
# because a package shipped to Flink's workers as a zip has none.
__version__ = "0.1.0"
