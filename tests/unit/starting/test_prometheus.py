"""Metrics of a local run for Prometheus: what Flink is told, and what keeps it from starting."""

import os
import socket
import zipfile
from pathlib import Path

import pytest

from eml.core.errors import EmlError
from eml.local.process import LOOPBACK, free_port
from eml.settings import JobSettings
from eml.starting.prometheus import FACTORY, metrics_environment, metrics_options


def test_without_a_port_nothing_is_changed():
    assert metrics_options(JobSettings()) == metrics_environment(JobSettings()) == {}


def test_the_reporter_that_flink_is_told_of_is_on_the_class_path():
    port = free_port()
    job = JobSettings(metrics_port=port)
    options = metrics_options(job)
    assert options["metrics.reporter.prom.port"] == str(port)
    found = metrics_environment(job, {"HADOOP_CLASSPATH": "/more"})["HADOOP_CLASSPATH"].split(os.pathsep)
    assert found[1:] == ["/more"]
    assert options["metrics.reporter.prom.factory.class"] == FACTORY
    assert f"{FACTORY.replace('.', '/')}.class" in zipfile.ZipFile(Path(found[0])).namelist()


def test_a_port_that_is_taken_is_named():
    with socket.create_server((LOOPBACK, 0)) as other:
        job = JobSettings(metrics_port=other.getsockname()[1])
        with pytest.raises(EmlError, match="metrics_port"):
            metrics_options(job)


def test_a_flink_without_the_reporter_is_named(tmp_path):
    with pytest.raises(EmlError, match="metrics_port"):
        metrics_environment(JobSettings(metrics_port=9249), {"FLINK_HOME": str(tmp_path)})
