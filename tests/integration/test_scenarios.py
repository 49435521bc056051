"""How fleets really evolve, on the real stack: one test for each row of the table in ARCHITECTURE.

One job runs them all; each has a subject and keys of its own.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from eml.local import topics
from eml.local.stack import Stack
from eml.settings import load
from tests.integration.harness import Job, Topics
from tests.integration.scenario import Output, Scenario
from tests.synthetic import Device

pytestmark = pytest.mark.slow

OLD, NEW, NEWER = ["a", "b", "c", "d"], ["b", "c", "d", "e"], ["c", "d", "e", "f"]


@pytest.fixture(scope="module")
def job(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    names = Topics.new(stack)
    labels = f"{names.readings}-labels"
    topics.create(stack.bootstrap_servers, [labels])
    settings: dict[str, dict[str, object]] = {
        "kafka": {"labels_topic": labels},
        "registry": {"newest_every_ms": 500},
        "learning": {"recovery_records": 40, "labels_kept": 200, "drift": "memory", "warm_start": True},
        "learner": {"warm_up": 64},
        "job": {"micro_batch_ms": 200},
    }
    with Job(stack, names, tmp_path_factory.mktemp("scenarios"), settings).start() as started:
        yield started


@pytest.fixture(scope="module")
def output(job: Job) -> Iterator[Output]:
    made = Output(job)
    yield made
    made.close()


@pytest.fixture
def scenario(job: Job, output: Output, request: pytest.FixtureRequest) -> Scenario:
    name = request.node.name.removeprefix("test_").replace("_", "-")
    settings = load(Path(job.folder / "eml.toml"))
    return Scenario(f"{job.topics.readings}-{name}", job, output, settings.kafka.labels_topic, settings)


def test_announced(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 150)
    scenario.wait()
    new = scenario.register(NEW)
    _wait_until_announced(scenario, old)
    scenario.readings(old, 100)
    scenario.readings(new, 60)
    said = scenario.agrees()
    assert scenario.event_kinds(2) == ["announced", "evolution"]
    announced, switch = (event for event in scenario.events() if event["kind"] != "recovery")
    assert (announced["vanished"], announced["augmented"]) == (["a"], ["e"])
    assert switch["announced"]
    assert int(str(switch["transform_steps"])) > 0
    assert said[-61]["stage"] == "transforming"
    assert scenario.accuracy(said[-60:]) > 0.7
    _has_figures(scenario)


def _wait_until_announced(scenario: Scenario, old: int) -> None:
    """Send until it is announced: only with a record does the job look."""
    while "announced" not in scenario.event_kinds(0):
        scenario.readings(old, 5)
        scenario.wait()


def _has_figures(scenario: Scenario) -> None:
    recovery = scenario.wait_for_event("recovery")[0]["recovery"]
    assert isinstance(recovery, dict)
    assert recovery["scored"] == 40
    assert recovery["first_records"] == 8
    assert recovery["accuracy_first"] >= recovery["cold_accuracy_first"]
    assert recovery["regret"] < 0
    assert recovery["accuracy_before"] is not None


def test_retiring(scenario: Scenario):
    old = scenario.register(OLD, a={"eml.retiring": True})
    scenario.readings(old, 150)
    scenario.wait()
    new = scenario.register(NEW)
    scenario.readings(new, 40)
    scenario.agrees()
    assert scenario.event_kinds(2)[0] == "announced"
    assert scenario.wait_for_event("evolution")[0]["announced"]


def test_unannounced(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 150)
    scenario.wait()
    new = scenario.register(NEW)
    scenario.readings(new, 60)
    said = scenario.agrees()
    assert scenario.event_kinds(1) == ["evolution"]
    (event,) = scenario.wait_for_event("evolution")
    assert not event["announced"]
    assert int(str(event["transform_steps"])) == 8, "over the memory, a bounded number"
    assert scenario.accuracy(said[-60:]) > 0.7
    _has_figures(scenario)


def test_staggered(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 150)
    new = scenario.register(NEW)
    scenario.mixture([new if number % 3 else old for number in range(1, 200)])
    said = scenario.agrees()
    scenario.wait_for_event("evolution")
    assert [kind for kind in scenario.event_kinds(1) if kind != "announced"] == ["evolution"], "no flapping"
    mixed = said[150:]
    assert {one["late"] for one in mixed if one["schema_id"] == old} == {True}
    assert {one["late"] for one in mixed if one["schema_id"] == new} == {False}
    for version in (old, new):
        own = [one for one in mixed if one["schema_id"] == version]
        assert scenario.accuracy(own) > 0.75
        assert len({one["model_revision"] for one in own}) > 2, "each goes on learning"


def test_late(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 100)
    new = scenario.register(NEW)
    scenario.readings(new, 60)
    scenario.readings(old, 5)
    scenario.readings(new, 5)
    said = scenario.agrees()
    assert [one["late"] for one in said[-10:]] == [True] * 5 + [False] * 5
    assert {one["stage"] for one in said[-10:-5]} <= {"initial", "steady", "transforming"}, "its own version's model"
    scenario.wait_for_event("evolution")
    assert scenario.event_kinds(1)[-1] == "evolution"


def test_rollback(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 120)
    new = scenario.register(NEW)
    scenario.readings(new, 60)
    scenario.readings(old, 60)
    said = scenario.agrees()
    (resumed,) = scenario.wait_for_event("resumed")
    assert (resumed["old_version"], resumed["new_version"]) == (2, 1)
    assert resumed["returned"] == ["a"]
    assert scenario.accuracy(said[-60:]) > 0.75
    assert not said[-1]["late"]


def test_return(scenario: Scenario):
    """A feature comes back in a new version, long after it vanished."""
    versions = [scenario.register(OLD)]
    scenario.readings(versions[0], 120)
    versions.append(scenario.register(NEW))
    scenario.readings(versions[1], 60)
    versions.append(scenario.register(["a", "c", "d", "e"]))
    scenario.readings(versions[2], 60)
    said = scenario.agrees()
    back = scenario.wait_for_event("evolution", 2)[-1]
    assert (back["returned"], back["augmented"], back["vanished"]) == (["a"], ["a"], ["b"])
    assert scenario.accuracy(said[-60:]) > 0.7


def test_rename(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 100)
    scenario.wait()
    # Another name for the same sensor, in another place: nothing is lost and nothing is an evolution.
    new = scenario.register(["d", "b", "alpha", "c"], alpha={"aliases": ["a"]})
    device = scenario._devices[scenario.name]
    for state in device.classes:
        device._levels["alpha", state] = device.level("a", state)
    scenario.readings(new, 60)
    said = scenario.agrees()
    assert scenario.event_kinds(0) == []
    assert scenario.accuracy(said[-60:]) > 0.75
    assert {one["stage"] for one in said[-60:]} == {"steady"}


def test_no_survivors(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 100)
    new = scenario.register(["w", "x", "y", "z"])
    scenario.readings(new, 80)
    said = scenario.agrees()
    event = scenario.wait_for_event("evolution")[0]
    assert not event["warm"]
    assert event["survived"] == []
    assert said[100]["label"] is None, "an honest cold start"
    assert scenario.accuracy(said[-40:]) > 0.6


def test_ten_in_a_row(scenario: Scenario):
    sensors = [f"s{number}" for number in range(20)]
    for number in range(12):
        version = scenario.register(sensors[number : number + 6])
        scenario.readings(version, 60)
    said = scenario.agrees()
    assert len(scenario.wait_for_event("evolution", 11)) == 11
    assert scenario.accuracy(said[60:]) > 0.7


def test_labels_late(scenario: Scenario):
    version = scenario.register(OLD)
    ids = scenario.readings(version, 100, labelled=False)
    assert {one["label"] for one in scenario.wait()} == {None}, "predictions never wait"
    scenario.labels(ids)
    _learnt(scenario, version)
    more = scenario.readings(version, 60, labelled=False)
    said = scenario.wait()
    assert scenario.accuracy(said[-60:]) > 0.75
    scenario.labels(more)
    scenario.wait_for_scores([*ids, *more])
    scores, then = scenario.scores(), {str(one["event_id"]): one for one in said}
    assert len(scores) == 160, "one for each label"
    for score in scores:
        event_id = str(score["event_id"])
        assert (score["label"], score["truth"]) == (then[event_id]["label"], scenario.truth[event_id])
        assert cast("int", score["wait_ms"]) > 0


def _learnt(scenario: Scenario, version: int) -> None:
    """Send unlabelled readings until labels have been learnt: topics have no order among each other."""
    while scenario.wait()[-1]["label"] is None:
        scenario.readings(version, 1, labelled=False)


def test_labels_early(scenario: Scenario):
    version = scenario.register(OLD)
    ahead, ids = Device(), []
    for _ in range(60):
        _, event_id, truth = ahead.value(version, scenario.texts[version], OLD)
        scenario.truth[event_id] = truth
        ids.append(event_id)
    scenario.labels(ids)
    time.sleep(3.0)  # topics have no order among each other: until these are in
    scenario.readings(version, 60, labelled=False)
    said = scenario.agrees()
    assert scenario.accuracy(said[-30:]) > 0.7, "each was learnt with its reading"


def test_labels_twice(scenario: Scenario):
    version = scenario.register(OLD)
    ids = scenario.readings(version, 40, labelled=False)
    scenario.wait()
    scenario.labels(ids)
    scenario.labels(ids)
    scenario.labels(ids[:10], "idle")
    _learnt(scenario, version)
    revision = scenario.wait()[-1]["model_revision"]
    assert int(str(revision)) <= 16, "each label was learnt once: forty make sixteen windows at most"


def test_labels_never(scenario: Scenario):
    version = scenario.register(OLD)
    scenario.readings(version, 300, labelled=False)
    said = scenario.wait()
    assert len(said) == 300
    assert {one["label"] for one in said} == {None}
    assert not scenario.event_kinds(0)


def test_new_class_after_the_switch(scenario: Scenario):
    old = scenario.register(OLD)
    scenario.readings(old, 120, classes=("idle", "busy"))
    new = scenario.register(NEW)
    scenario.readings(new, 40)
    scenario.readings(new, 20, state="broken")
    scenario.readings(new, 20, state="broken")
    said = scenario.agrees()
    assert scenario.accuracy(said[-20:]) > 0.7


def test_drift(scenario: Scenario):
    version = scenario.register(OLD)
    scenario.readings(version, 300)
    device = scenario._devices[scenario.name]
    device._levels = {place: -level for place, level in device._levels.items()}
    scenario.readings(version, 200)
    said = scenario.agrees()
    (event,) = scenario.wait_for_event("drift")
    drift = event["drift"]
    assert isinstance(drift, dict)
    assert drift["error_after"] > drift["error_before"]
    assert scenario.accuracy(said[-60:]) > 0.7


def test_new_device_warm(scenario: Scenario):
    version = scenario.register(OLD)
    scenario.readings(version, 150, device="-old")
    scenario.wait("-old")
    scenario.readings(version, 30, device="-new", labelled=False)
    said = scenario.wait("-new")
    (event,) = scenario.wait_for_event("warm-start", device="-new")
    assert event["donor"] == scenario.name + "-old"
    assert scenario.accuracy(said) > 0.75, "from the first record on, without a label of its own"
