"""What runs the job elsewhere agrees with what is tested here: versions, settings, one slot for each TaskManager."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import eml
from eml.local.jars import SETS
from eml.settings import Settings, load

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCKERFILE = (ROOT / "docker/Dockerfile").read_text()
(FLINK,) = (
    need.partition("==")[2] for need in PROJECT["optional-dependencies"]["job"] if need.startswith("apache-flink")
)
CONNECTOR = SETS["connector"].coordinates[0]
IMAGE = f"eml:{eml.__version__}"
SECRETS = {"EML_REGISTRY_USERNAME": "someone", "EML_REGISTRY_PASSWORD": "something"}


def documents(path: str) -> list[Any]:
    """What a YAML file holds."""
    return list(YAML(typ="safe").load_all(ROOT / path))


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """Of the compose file."""
    (compose,) = documents("docker/compose.yaml")
    found: dict[str, Any] = compose["services"]
    return found


@pytest.fixture(scope="module")
def deployment() -> dict[str, Any]:
    """The job on Kubernetes."""
    (found,) = (document for document in documents("deploy/flink-deployment.yaml") if document["kind"] != "ConfigMap")
    spec: dict[str, Any] = found["spec"]
    return spec


@pytest.fixture(scope="module")
def kubernetes_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The ConfigMap's file, with the places filled in that are the user's."""
    (config,) = (document for document in documents("deploy/flink-deployment.yaml") if document["kind"] == "ConfigMap")
    file = tmp_path_factory.mktemp("settings") / "eml.toml"
    file.write_text(config["data"]["eml.toml"].replace("REPLACE-ME", "example.com"))
    return load(file, SECRETS)


# -- versions --------------------------------------------------------------------------------------------------------


def test_the_image_has_the_tested_versions():
    assert re.findall(r"^FROM (flink:\S+)", DOCKERFILE, re.MULTILINE) == [f"flink:{FLINK}-java17"]
    assert f"-Dartifact={CONNECTOR} " in DOCKERFILE
    python = re.findall(r"python:?(3\.\d+)", DOCKERFILE)
    assert python
    assert all(f"Programming Language :: Python :: {version}" in PROJECT["classifiers"] for version in python)


def test_the_image_is_the_one_that_is_deployed(services: dict[str, Any], deployment: dict[str, Any]):
    assert f"--tag {IMAGE} " in DOCKERFILE
    assert f"--tag {IMAGE} " in (ROOT / "docker/README.md").read_text()
    assert {services["jobmanager"]["image"], services["taskmanager"]["image"], deployment["image"]} == {IMAGE}


def test_the_stack_has_the_tested_versions(services: dict[str, Any]):
    kafka = SETS["broker"].coordinates[0].split(":")[2]
    registry = SETS["registry"].coordinates[0].split(":")[2]
    assert services["broker"]["image"] == services["topics"]["image"] == f"apache/kafka:{kafka}"
    assert services["registry"]["image"] == f"apicurio/apicurio-registry:{registry}"


def test_the_operator_runs_the_tested_flink(deployment: dict[str, Any]):
    major, minor, _ = FLINK.split(".")
    assert deployment["flinkVersion"] == f"v{major}_{minor}"
    assert deployment["job"]["jarURI"].endswith(f"/flink-python-{FLINK}.jar")
    (plugins,) = (one["value"] for one in environment(deployment) if one["name"] == "ENABLE_BUILT_IN_PLUGINS")
    assert plugins.endswith(f"-{FLINK}.jar")


def test_the_images_packages_are_pinned_as_those_of_the_tests():
    pins = {name: _pins(ROOT / f"requirements/{name}.txt") for name in ("job", "dev")}
    assert pins["job"].items() <= pins["dev"].items()
    assert pins["job"]["apache-flink"] == FLINK


def _pins(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", file.read_text(), re.MULTILINE))


def test_the_guides_name_the_connector_as_it_is():
    _, artifact, version = CONNECTOR.split(":")
    assert f"{artifact}-{version}.jar" in (ROOT / "deploy/README.md").read_text()


# -- settings and how the job is run -----------------------------------------------------------------------------------


def test_composes_settings_load_and_its_topics_are_made(services: dict[str, Any]):
    settings = load(None, services["jobmanager"]["environment"] | _image_environment())
    assert settings.job.connector_jar == "cluster"
    assert settings.job.checkpoint_dir.startswith("file:///var/lib/eml/"), "where the volume is"
    kafka, (made,) = settings.kafka, services["topics"]["command"]
    results = {kafka.predictions_topic, kafka.scores_topic, kafka.evolutions_topic, kafka.dead_letters_topic}
    topics = {kafka.readings_topic, *results}
    assert set(re.findall(r"for topic in (.*);", made)[0].split()) == topics
    assert int(re.findall(r"--partitions (\d+)", made)[0]) >= settings.job.parallelism


def _image_environment() -> dict[str, str]:
    (line,) = re.findall(r"^ENV PATH=\S+ (.*)$", DOCKERFILE, re.MULTILINE)
    return dict(pair.split("=") for pair in line.split())


def test_kubernetes_settings_load_and_agree_with_the_deployment(
    kubernetes_settings: Settings, deployment: dict[str, Any]
):
    assert kubernetes_settings.job.parallelism == deployment["job"]["parallelism"]
    assert kubernetes_settings.job.checkpoint_dir == "", "as the cluster is set up"
    names = {one["name"] for one in environment(deployment)}
    assert {name for name in names if name.startswith("EML_")} == {
        "EML_REGISTRY_USERNAME",
        "EML_REGISTRY_PASSWORD_FILE",
    }


def environment(deployment: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the pods' main container."""
    (container,) = deployment["podTemplate"]["spec"]["containers"]
    assert container["name"] == "flink-main-container"
    found: list[dict[str, Any]] = container["env"]
    return found


def test_both_run_the_job_in_the_same_way(services: dict[str, Any], deployment: dict[str, Any]):
    compose, kubernetes = services["jobmanager"]["command"], deployment["job"]
    python = "/opt/eml/bin/python"
    entry = ["-pyclientexec", python, "-pyexec", python, "-pym", "eml.job"]
    driver = "org.apache.flink.client.python.PythonDriver"
    assert compose[:9] == ["standalone-job", "--job-classname", driver, *entry]
    assert [kubernetes["entryClass"], *kubernetes["args"][:6]] == [driver, *entry]
    assert " ".join(entry) in (ROOT / "deploy/README.md").read_text()


# -- how it is kept --------------------------------------------------------------------------------------------------


def test_a_taskmanager_has_one_slot(services: dict[str, Any], deployment: dict[str, Any]):
    for name in ("jobmanager", "taskmanager"):
        properties = services[name]["environment"]["FLINK_PROPERTIES"].splitlines()
        assert "taskmanager.numberOfTaskSlots: 1" in properties
    assert deployment["flinkConfiguration"]["taskmanager.numberOfTaskSlots"] == "1"


def test_an_upgrade_keeps_the_state(deployment: dict[str, Any]):
    assert deployment["job"]["upgradeMode"] == "savepoint"
    assert deployment["job"]["allowNonRestoredState"] is False
    kept = ("execution.checkpointing.dir", "execution.checkpointing.savepoint-dir", "high-availability.storageDir")
    assert all(deployment["flinkConfiguration"][name].startswith("s3://REPLACE-ME/") for name in kept)


def test_compose_publishes_to_this_machine_only_and_checks_health(services: dict[str, Any]):
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert all("healthcheck" in services[name] for name in ("broker", "registry", "jobmanager"))


def test_nobody_is_root(deployment: dict[str, Any]):
    user = re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)[-1]
    context = deployment["podTemplate"]["spec"]["securityContext"]
    assert user == f"{context['runAsUser']}:{context['runAsGroup']}"
    assert context["runAsNonRoot"]


def test_environments_are_not_logged(deployment: dict[str, Any]):
    logger = "org.apache.flink.client.python.PythonEnvUtils"
    assert logger in DOCKERFILE
    assert (
        f"logger.environment.name = {logger}\nlogger.environment.level = WARN"
        in (deployment["logConfiguration"]["log4j-console.properties"])
    )
