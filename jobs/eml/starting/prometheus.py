"""Metrics of a local run for Prometheus: `job.metrics_port`.

Called by `eml.job` before Flink's Java process starts, and by `eml.flink.environment`. Flink has a reporter for
Prometheus among its plugins, where a mini cluster does not look: it must be on the class path. On a cluster nothing of
this applies: there the cluster's configuration names its reporters.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from eml.core.errors import EmlError
from eml.local.process import is_free
from eml.settings import JobSettings

REPORTER = "metrics.reporter.prom."
FACTORY = "org.apache.flink.metrics.prometheus.PrometheusReporterFactory"
JAR = "plugins/metrics-prometheus/*.jar"
MORE_CLASS_PATH = "HADOOP_CLASSPATH"  # the one variable from which PyFlink takes more for its Java process


def metrics_options(job: JobSettings) -> dict[str, str]:
    """Flink's options for the reporter; it binds to loopback, as all of a local run does."""
    if not job.metrics_port:
        return {}
    if not is_free(job.metrics_port):
        raise EmlError(f"another process listens on port {job.metrics_port} (job.metrics_port): name another, or 0")
    return {f"{REPORTER}factory.class": FACTORY, f"{REPORTER}port": str(job.metrics_port)}


def metrics_environment(job: JobSettings, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables that put the reporter on the class path."""
    if not job.metrics_port:
        return {}
    folder = environ.get("FLINK_HOME") or _flink_folder()
    jar = next(Path(folder).glob(JAR), None)
    if jar is None:
        raise EmlError(f"Flink in {folder!r} has no reporter for Prometheus ({JAR}): set job.metrics_port to 0")
    return {MORE_CLASS_PATH: os.pathsep.join(filter(None, (str(jar), environ.get(MORE_CLASS_PATH))))}


def _flink_folder() -> str:
    """Where PyFlink is installed, with Flink; found without importing it."""
    found = find_spec("pyflink")
    return next(iter(found.submodule_search_locations or ()), "") if found else ""
