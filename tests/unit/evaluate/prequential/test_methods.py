"""Our methods in the stream: windows as in the job, what each of them keeps and forgets."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.evaluate.catalogue import PEERS, STREAM_MEMORY, STREAM_METHODS
from eml.evaluate.datasets import Floats
from eml.evaluate.prequential.course import Course, Stage
from eml.evaluate.prequential.measures import measure
from eml.evaluate.prequential.methods import REGISTRY, Announced, DropOnly, Eml, Restart
from eml.evaluate.prequential.play import play
from eml.local.fleet import VERSIONS, Machine
from eml.local.messages import ReadingWriter
from eml.settings import RecordSettings, Settings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId


def test_the_catalogue_names_what_there_is_and_the_job_s_memory():
    assert set(STREAM_METHODS) == {*REGISTRY, *PEERS}
    assert LearnerConfig().memory_size == STREAM_MEMORY


def revisions_in_the_job(labelled: list[bool], switch: int) -> list[int]:
    """Return the model's revision at each record in the job; schema version 2 from the record `switch` on."""
    schemas = [
        compile_schema(
            schema_text(f"readings/v{version}"), SchemaId(version), "readings-value", version, RecordSettings()
        )
        for version in (1, 2)
    ]
    writers, machine = [ReadingWriter(1, 1), ReadingWriter(2, 2)], Machine(0)
    raws = []
    for place, given in enumerate(labelled):
        version = int(place >= switch)
        (reading,) = machine.readings(VERSIONS[version], 1)
        value = writers[version].write("pump", f"event-{place}", place, replace(reading, labelled=given))
        raws.append(Raw(value, Position("readings", 0, place, place), {}))
    results = KeyModel(KeyName("pump"), Settings()).step(raws, lambda schema_id: schemas[schema_id - 1])
    return [scored.model_revision for scored in results.predictions]


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_windows_close_where_the_job_s_do(share):
    switch, records = 150, 260
    random = np.random.default_rng(3)
    labelled = random.random(records) < share
    values, classes = random.normal(size=(records, 3)), random.integers(2, size=records)
    stages = tuple(
        Stage(FeatureSpace(names), values[part], classes[part], labelled[part], 0)
        for names, part in (
            (("a", "b", "c"), slice(switch)),
            (("b", "c", "d"), slice(switch, records)),
        )
    )

    class Watched(Eml):
        revisions: ClassVar[list[int]] = []

        def predict(self, rows: Floats) -> list[int | None]:
            self.revisions.extend([self._learner.revision] * len(rows))
            return super().predict(rows)

    play(Course(stages), Watched(stages[0].space, 0, 64))
    assert Watched.revisions == revisions_in_the_job(labelled.tolist(), switch)


def test_answers_are_those_of_the_model_at_that_record(make_course):
    course = make_course(labelled=0.7)
    answers = play(course, Eml(course.stages[0].space, 2, 64))
    method = Eml(course.stages[0].space, 2, 64)
    for number, (stage, given) in enumerate(zip(course.stages, answers, strict=True)):
        if number:
            method.evolve(stage.space)
        for place, (row, label) in enumerate(zip(stage.X, stage.y.tolist(), strict=True)):
            assert method.predict(row[None]) == [None if given[place] < 0 else given[place]]
            if stage.labelled[place]:
                method.learn(row[None], [label])


@pytest.mark.parametrize("switches", [1, 5])
@pytest.mark.parametrize("name", REGISTRY)
def test_every_method_tells_classes_apart_that_lie_apart(make_course, name, switches):
    course = make_course(switches=switches)
    figures = measure(course, play(course, REGISTRY[name](course.stages[0].space, 0, 64)), 0.0)
    assert figures.after > (40.0 if name == "restart" else 60.0)  # chance is 33, and a restart is silent at first


def learner_of(method: Eml) -> EvolvingMetricLearner:
    return method._learner


FIRST, SECOND = FeatureSpace(("a", "b", "c")), FeatureSpace(("b", "c", "d"))


def after_a_switch(kind: type[Eml]) -> Eml:
    random = np.random.default_rng(0)
    method = kind(FIRST, 0, 64)
    for _ in range(3):
        method.learn(random.normal(size=(8, 3)), [0, 1] * 4)
    method.learn(random.normal(size=(3, 3)), [0, 1, 0])  # pending at the switch
    method.announce(SECOND)
    method.evolve(SECOND)
    return method


def test_what_is_pending_is_learnt_before_the_switch():
    assert learner_of(after_a_switch(Eml)).revision == 4


def test_only_the_announced_one_hears_of_the_switch():
    heard = {kind: Heard(kind) for kind in (Eml, Announced, Restart, DropOnly)}
    assert [kind for kind, method in heard.items() if method.announced] == [Announced]


class Heard:
    """Whether a method's learner was told of the next space."""

    def __init__(self, kind: type[Eml]) -> None:
        method = kind(FIRST, 0, 64)
        method.learn(np.random.default_rng(0).normal(size=(8, 3)), [0, 1] * 4)
        method.announce(SECOND)
        self.announced = learner_of(method)._state.upcoming is not None


def test_a_restart_knows_nothing():
    method = after_a_switch(Restart)
    assert learner_of(method).classes == ()
    assert method.predict(np.zeros((2, 3))) == [None, None]
    assert method.room == 1


def test_drop_only_keeps_the_survivors_and_takes_back_what_it_knew_but_nothing_new():
    method = after_a_switch(DropOnly)
    assert learner_of(method).space.names == ("b", "c")
    assert method.predict(np.array([[0.1, 0.2, 0.0]])) == method.predict(np.array([[0.1, 0.2, 1e6]]))  # the new one
    method.evolve(FeatureSpace(("a", "c", "d")))
    assert learner_of(method).space.names == ("a", "c")
