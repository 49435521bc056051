"""One key's records: predictions, windows, evolutions, stragglers, state; the same for every cut of the stream."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from eml.core import LearnerConfig, SnapshotDamagedError, SnapshotVersionError
from eml.local.fleet import VERSIONS, Machine
from eml.local.messages import ReadingWriter
from eml.settings import LearningSettings, RecordSettings, Settings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.errors import BadSchemaError, RegistryUnavailableError
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId, frame

SCHEMAS = {
    10 * version: compile_schema(
        schema_text(f"readings/v{version}"), SchemaId(10 * version), "readings-value", version, RecordSettings()
    )
    for version in (1, 2, 3)
}
SETTINGS = Settings(learner=LearnerConfig(memory_size=128, rank=8, warm_up=32))


def look_up(schema_id: int) -> ReadingSchema:
    if schema_id not in SCHEMAS:
        raise BadSchemaError("unknown-schema", f"no schema {schema_id}")
    return SCHEMAS[schema_id]


def records(versions: Iterable[int], seed: int = 0, labelled: float = 0.6, step_ms: int = 1000) -> list[Raw]:
    """One record per entry of `versions`."""
    machine = Machine(seed, labelled)
    writers = {version: ReadingWriter(version, 10 * version) for version in (1, 2, 3)}
    raws = []
    for number, version in enumerate(versions):
        (reading,) = machine.readings(VERSIONS[version - 1], 1)
        value = writers[version].write("pump", f"event-{number}", step_ms * number, reading)
        raws.append(Raw(value, Position("readings", 0, number, step_ms * number), {}))
    return raws


def run(
    raws: Sequence[Raw],
    settings: Settings = SETTINGS,
    cut: int | None = None,
    *,
    reload: bool = False,
    log: bool = False,
) -> Results:
    """Step through the records in micro-batches of `cut`, through bytes and back between them where asked."""
    model, together, parts = KeyModel(KeyName("pump"), settings), Results(), state_codec.StateParts()
    for start in range(0, len(raws), cut or len(raws)):
        results = model.step(raws[start : start + (cut or len(raws))], look_up)
        together.predictions += results.predictions
        together.evolutions += results.evolutions
        together.dead_letters += results.dead_letters
        together.scored += results.scored
        together.right += results.right
        keep(parts, model, log=log)
        if reload:
            model = state_codec.load(KeyName("pump"), settings, parts)
    return together


def keep(parts: state_codec.StateParts, model: KeyModel, *, log: bool = False) -> state_codec.StateUpdate:
    """Write what changed, as the operator does to Flink's state."""
    changes = state_codec.take_changes(model, log=log)
    if changes.model is not None:
        parts.model, parts.changes = changes.model, []
    parts.changes = parts.changes + changes.changes
    parts.window = changes.window or parts.window
    parts.others = changes.others or parts.others
    parts.labels = [changes.all_labels] if changes.all_labels is not None else parts.labels + changes.labels
    return changes


STREAM = [1] * 60 + [2] * 50 + [3] * 40 + [2] * 3 + [3] * 20 + [2, 3] * 20 + [2] * 40 + [1, 3, 2] * 5


@pytest.fixture(scope="module")
def unbroken() -> Results:
    return run(records(STREAM))


@pytest.mark.parametrize("cut", [1, 7, 64])
@pytest.mark.parametrize("reload", [False, True])
def test_results_depend_neither_on_the_cut_nor_on_reloads(unbroken, cut, reload):
    assert run(records(STREAM), cut=cut, reload=reload) == unbroken


@pytest.mark.parametrize("cut", [1, 7, 64])
def test_results_are_the_same_where_the_model_is_a_log_that_is_read_again(unbroken, cut):
    assert run(records(STREAM), cut=cut, reload=True, log=True) == unbroken


def test_a_log_holds_the_model_and_is_no_longer_than_its_base():
    model, parts, pieces, bases = KeyModel(KeyName("pump"), SETTINGS), state_codec.StateParts(), 0, 0
    raws = records([1] * 300 + [2] * 200)
    for start in range(0, len(raws), 20):
        model.step(raws[start : start + 20], look_up)
        changes = keep(parts, model, log=True)
        assert not (changes.model and changes.changes)
        pieces, bases = pieces + len(changes.changes), bases + (changes.model is not None)
        longest = max(map(len, parts.changes), default=0)
        assert sum(map(len, parts.changes)) <= len(parts.model or b"") + longest
        loaded = state_codec.load(KeyName("pump"), SETTINGS, parts)
        assert state_codec.take_all(loaded).model == state_codec.dump_model(
            state_codec.load(KeyName("pump"), SETTINGS, parts).state
        )
        assert loaded.state.models is not None
        assert model.state.models is not None
        assert loaded.state.models.current.snapshot() == model.state.models.current.snapshot()
        assert loaded.state.models.known == model.state.models.known
    assert pieces > 1
    assert bases > 1


def test_models_of_versions_left_are_not_written_again_when_the_head_learns():
    model, parts = KeyModel(KeyName("pump"), SETTINGS), state_codec.StateParts()
    raws = records([1] * 60 + [2] * 200)
    model.step(raws[:70], look_up)
    assert keep(parts, model, log=True).others
    written = []
    for start in range(70, len(raws), 10):
        model.step(raws[start : start + 10], look_up)
        written.append(keep(parts, model, log=True))
    assert sum(len(changes.changes) for changes in written) > 1
    assert not any(changes.others for changes in written)


def test_every_record_is_answered_once_and_in_order():
    results = run(records(STREAM), cut=9)
    assert [scored.position.offset for scored in results.predictions] == list(range(len(STREAM)))
    assert not results.dead_letters


def test_before_the_first_labels_there_is_a_reason_instead():
    results = run(records([1] * 30, labelled=0.0))
    assert all(scored.label is None and scored.reason and not scored.scores for scored in results.predictions)
    assert all(scored.margin is None and scored.novelty is None for scored in results.predictions)


@pytest.mark.parametrize("full", [1, 15, 33, 63])  # records whose label closes a window: taught first, it would count
@pytest.mark.parametrize("cut", [None, 1])
def test_a_prediction_knows_nothing_of_its_own_label(full, cut):
    raws = records([1] * full, labelled=1.0)
    last = records([1] * full, labelled=0.0)[-1]
    with_label, without = run(raws, cut=cut), run([*raws[:-1], last], cut=cut)
    said, expected = with_label.predictions[-1], without.predictions[-1]
    assert (said.truth is not None, expected.truth) == (True, None)
    assert said.scores == expected.scores
    assert said.model_revision == expected.model_revision
    model = KeyModel(KeyName("pump"), SETTINGS)
    model.step(raws, look_up)
    after = model.step(records([1] * (full + 1))[-1:], look_up).predictions[-1]
    assert after.model_revision == said.model_revision + 1, "it is learnt for the next one"


def test_scores_add_up_and_the_label_is_the_best():
    for scored in run(records(STREAM)).predictions[40:]:
        assert sum(scored.scores.values()) == pytest.approx(1.0)
        assert scored.label == max(scored.scores, key=lambda label: scored.scores[label])


def test_a_window_closes_by_count():
    revisions = [s.model_revision for s in run(records([1] * 230, labelled=1.0)).predictions]
    changes = [i for i in range(1, 230) if revisions[i] != revisions[i - 1]]
    first = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 41, 51, 63, 78, 97]
    assert changes == [*first, 97 + 24, 121 + 30, 151 + 32, 183 + 32]  # one at first, a quarter of the age, full ones


def test_a_window_closes_by_the_records_time():
    settings = replace(SETTINGS, learning=LearningSettings(window_ms=5_000))
    revisions = [s.model_revision for s in run(records([1] * 60, labelled=1.0), settings).predictions]
    changes = [i for i in range(27, 60) if revisions[i] != revisions[i - 1]]
    assert changes == [27, 32, 37, 42, 47, 52, 57]  # by count it would be 27, 33, 41, 51


def test_a_new_version_is_an_evolution_at_its_first_record():
    results = run(records([1] * 60 + [2] * 40))
    (event,) = results.evolutions
    assert (event.old_schema_id, event.new_schema_id) == (10, 20)
    assert (event.old_version, event.new_version) == (1, 2)
    assert event.position.offset == 60
    assert event.report.change.vanished == ("oil_pressure",)
    assert event.report.change.augmented == ("acoustic",)
    assert results.predictions[60].label is not None, "it keeps predicting"
    assert results.predictions[60].stage == "inheriting"


def test_pending_labels_are_learnt_before_the_space_changes():
    results = run(records([1] * 20 + [2] * 5, labelled=1.0))
    assert results.evolutions[0].batches == 13  # 8 of one, 2, 2, 3, 3, and the two that were pending


def test_stragglers_are_answered_without_going_back():
    results = run(records([1] * 60 + [2] * 40 + [1, 2, 1, 1, 2]))
    assert len(results.evolutions) == 1
    assert [scored.late for scored in results.predictions[100:]] == [True, False, True, True, False]
    assert [scored.schema_version for scored in results.predictions[100:]] == [1, 2, 1, 1, 2]
    assert all(scored.label is not None for scored in results.predictions[100:])


def test_a_first_record_of_an_older_version_is_a_straggler_too():
    results = run(records([2] * 60 + [1] * 3))
    assert not results.evolutions
    assert all(scored.late for scored in results.predictions[60:])


def test_a_rollback_resumes_the_model_that_was_kept_once_it_lasts():
    results = run(records([2] * 60 + [3] * 60 + [2] * 40))
    back = results.evolutions[-1]
    assert back.kind == "resumed"
    assert (back.old_version, back.new_version) == (3, 2)
    assert back.position.offset == 120 + 31
    assert back.report.change.renamed == {"vibration_x": "vibration_radial"}, "an alias reads both ways"
    assert set(back.report.returned) == {"vibration_y", "current"}


def test_a_rollback_to_a_model_that_was_not_kept_is_an_evolution_back():
    settings = replace(SETTINGS, learning=LearningSettings(former_versions=0, recovery_records=0))
    results = run(records([2] * 60 + [3] * 60 + [2] * 40), settings)
    back = results.evolutions[-1]
    assert back.kind == "evolution"
    assert back.position.offset == 120 + 31
    assert set(back.report.returned) == {"vibration_y", "current"}


def test_a_schema_with_the_same_features_is_no_evolution():
    same = replace(SCHEMAS[10], id=SchemaId(11), version=2)
    raws = records([1] * 40)
    again = [Raw(frame(11, raw.value[5:]), raw.position, {}) for raw in raws[20:] if raw.value]
    model = KeyModel(KeyName("pump"), SETTINGS)
    results = model.step([*raws[:20], *again], lambda i: same if i == 11 else SCHEMAS[i])
    assert not results.evolutions
    assert results.predictions[-1].schema_id == 11
    plain = run(raws)
    assert [s.scores for s in results.predictions] == [s.scores for s in plain.predictions]


def test_bad_records_do_not_touch_their_neighbours():
    raws = records([1] * 60)
    bad = [
        Raw(None, Position("readings", 0, 1000, 0), {}),
        Raw(b"hello", Position("readings", 0, 1001, 0), {}),
        Raw(frame(99, b"abc"), Position("readings", 0, 1002, 0), {}),
        Raw((raws[0].value or b"")[:-3], Position("readings", 0, 1003, 0), {}),
        Raw((raws[0].value or b"") + b"\0", Position("readings", 0, 1004, 0), {}),
    ]
    mixed = [*raws[:10], *bad[:2], *raws[10:33], *bad[2:], *raws[33:]]
    settings = replace(SETTINGS, record=RecordSettings(tombstones="dead-letter"))
    results = run(mixed, settings, cut=11)
    assert results.predictions == run(raws).predictions
    assert sorted((d.raw.position.offset, d.reason) for d in results.dead_letters) == [
        (1000, "no-value"),
        (1001, "not-framed"),
        (1002, "unknown-schema"),
        (1003, "truncated"),
        (1004, "trailing-bytes"),
    ]
    assert {d.schema_id for d in results.dead_letters} == {None, 99, 10}


def test_a_schema_that_cannot_be_had_makes_the_rest_wait():
    raws = records([1] * 10 + [2] * 3 + [1] * 2)

    def down(schema_id: int) -> ReadingSchema:
        if schema_id == 20:
            raise RegistryUnavailableError("down", 700)
        return SCHEMAS[schema_id]

    model = KeyModel(KeyName("pump"), SETTINGS)
    results = model.step(raws, down)
    assert len(results.predictions) == 10
    assert results.waiting == raws[10:], "order is kept: what is behind waits, too"
    assert results.retry_after_ms == 700
    later = model.step(results.waiting, look_up)
    assert results.predictions + later.predictions == run(raws).predictions
    assert not later.waiting


def test_only_what_changed_is_written():
    model = KeyModel(KeyName("pump"), SETTINGS)
    raws = records([1] * 40, labelled=0.0)
    model.step(raws[:10], look_up)
    assert state_codec.take_changes(model).model, "the first record makes the model"
    model.step(records([1] * 20, labelled=1.0)[10:], look_up)
    assert state_codec.take_changes(model).model, "ten labels make several windows"
    model.step(raws[20:30], look_up)
    assert state_codec.take_changes(model) == state_codec.StateUpdate()
    model.step(records([1], labelled=1.0), look_up)
    changes = state_codec.take_changes(model)
    assert changes.model is None
    assert changes.others is None
    assert changes.window


def test_damaged_or_foreign_state_is_refused():
    model, parts = KeyModel(KeyName("pump"), SETTINGS), state_codec.StateParts()
    model.step(records([1] * 40 + [2] * 10), look_up)
    keep(parts, model)
    for name in ("model", "window", "others"):
        whole = getattr(parts, name)
        for broken in (b"", whole[:7], b"X" + whole[1:], whole[:-1]):
            with pytest.raises(SnapshotDamagedError):
                state_codec.load(KeyName("pump"), SETTINGS, _with(parts, name, broken))
        with pytest.raises(SnapshotVersionError):
            state_codec.load(KeyName("pump"), SETTINGS, _with(parts, name, whole[:4] + b"\x09\x00" + whole[6:]))


def _with(parts: state_codec.StateParts, name: str, value: bytes) -> state_codec.StateParts:
    changed = replace(parts)
    setattr(changed, name, value)
    return changed
