"""What the page is told is what the job wrote: counts, curves, lists, and bounds."""

import threading

import pytest

from eml.watch import devices as devices_module
from eml.watch import times
from eml.watch.dead_letters import Arrived
from eml.watch.fleet_view import FleetView, Surroundings
from eml.watch.views import PAGE_ROWS, Fleet
from tests.watched import (
    BEGIN_MS,
    IDS,
    SyntheticFleet,
    dead_letter_headers,
    evolution,
    fed,
    framed,
    prediction,
    recovery,
)
from tests.watched import score as score_of

V1, V2 = f"schema {IDS[1]} v1", f"schema {IDS[2]} v2"


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setattr(times, "now_ms", lambda: BEGIN_MS + 3_600_000)


def predicted(view, **given):
    fields = prediction(**given)
    view.add_predictions([(fields, fields["source_timestamp"] + 40, framed("prediction", fields))])


@pytest.fixture(scope="module")
def records():
    return list(SyntheticFleet(60, 12_000, per_s=200).said())


def test_it_is_the_fleet_that_the_page_asks_for():
    fleet: Fleet = FleetView()
    assert fleet.summary().devices == 0
    assert fleet.summary().accuracy is None
    assert fleet.rollout().times_ms == []
    assert fleet.accuracy().times_ms == ()
    assert fleet.devices().total == fleet.evolutions().total == fleet.dead_letters().total == 0
    assert fleet.device("nobody") is None
    assert fleet.evolution(1) is None
    assert fleet.dead_letter(1) is None


def test_the_summary_counts_what_was_written(records):
    summary = fed(records).summary()
    predictions = [each.fields for each in records if each.topic == "predictions"]
    scores = [each.fields for each in records if each.topic == "scores"]
    compared = [each for each in scores if each["cold_right"] is not None]
    assert summary.devices == 60
    assert summary.predictions == len(predictions)
    assert summary.versions == {V2: 60}
    assert sum(summary.stages.values()) == 60
    assert sum(summary.dead_letters.values()) == sum(each.topic == "dead-letters" for each in records)
    assert summary.scored == len(scores)
    assert summary.accuracy == sum(each["right"] for each in scores[-2000:]) / 2000
    assert summary.cold_accuracy == sum(each["cold_right"] for each in compared[-2000:]) / len(compared[-2000:])
    assert summary.regret == sum(each["cold_right"] - each["right"] for each in compared)
    assert summary.problem == ""


def test_names_of_versions_are_the_registrys_once_they_are_known(records):
    view = fed(records)
    assert view.unnamed() == [IDS[1], IDS[2]]
    view.name_version(IDS[2], "readings-value v2")
    assert view.summary().versions == {"readings-value v2": 60}
    assert view.unnamed() == [IDS[1]]


def test_the_rollout_adds_up_to_all_devices_and_ends_with_the_newest_version(records):
    rollout = fed(records).rollout()
    totals = [sum(column) for column in zip(*rollout.devices.values(), strict=True)]
    assert totals[-1] == 60
    assert totals == sorted(totals)
    assert rollout.devices[V1][-1] == 0
    assert max(rollout.devices[V1]) == 60
    assert rollout.devices[V2] == sorted(rollout.devices[V2])
    assert list(rollout.times_ms) == sorted(rollout.times_ms)
    assert len(rollout.times_ms) <= 240


def test_a_late_reading_of_an_older_version_moves_no_device():
    view = FleetView()
    predicted(view, schema_id=IDS[2], schema_version=2)
    predicted(view, schema_id=IDS[1], schema_version=1, late=True)
    assert view.summary().versions == {V2: 1}


def test_partitions_may_be_read_back_one_after_the_other(records):
    by_partition = sorted(records, key=lambda each: each.fields.get("source_partition", 0))
    one, other = fed(records), fed(by_partition)
    assert one.rollout() == other.rollout()
    assert one.accuracy().accuracy == other.accuracy().accuracy
    assert one.summary().versions == other.summary().versions


def test_accuracy_over_time_has_the_evolutions_marked_and_a_cold_restart_below(records):
    accuracy = fed(records).accuracy()
    assert len(accuracy.times_ms) == len(accuracy.accuracy) == len(accuracy.cold) == len(accuracy.scored) <= 400
    assert sum(accuracy.scored) == sum(each.topic == "scores" for each in records)
    assert {mark.kind for mark in accuracy.marks} == {"evolution"}
    assert sum(mark.devices for mark in accuracy.marks) == 60
    assert [mark.time_ms for mark in accuracy.marks] == sorted(mark.time_ms for mark in accuracy.marks)
    assert any(cold is not None for cold in accuracy.cold)
    assert all(cold is None for cold, time in zip(accuracy.cold, accuracy.times_ms, strict=True) if time < BEGIN_MS)


def test_without_a_topic_of_scores_labels_inside_readings_are_scored():
    said = list(SyntheticFleet(5, 500, scores=False).said())
    summary = fed(said).summary()
    labelled = [each.fields for each in said if each.fields.get("truth")]
    assert summary.scored == len(labelled) > 100
    assert summary.accuracy == sum(each["label"] == each["truth"] for each in labelled) / len(labelled)


def test_with_the_first_score_labels_inside_readings_are_counted_no_more():
    view = FleetView()
    for offset in range(10):
        predicted(view, truth="healthy", source_offset=offset)  # all wrong
    view.add_scores([(score_of(), BEGIN_MS + 40)])
    predicted(view, truth="healthy", source_offset=11)
    assert (view.summary().scored, view.summary().accuracy) == (1, 1.0)
    assert view.devices().rows[0].scored == 1


def test_curves_look_back_on_a_window(records):
    window_ms = 20_000
    view = fed(records, FleetView(Surroundings(window_ms=window_ms)))
    newest = records[-1].time_ms
    device = view.device("pump-00007")
    assert device is not None
    for times_ms in (view.accuracy().times_ms, view.rollout().times_ms, device.accuracy.times_ms):
        assert newest - 1.5 * window_ms <= times_ms[0] < newest
    assert sum(counts[0] for counts in view.rollout().devices.values()) == 60
    assert view.summary().scored == sum(each.topic == "scores" for each in records)


def test_latency_rate_and_lag_go_by_kafkas_times(monkeypatch):
    monkeypatch.setattr(times, "now_ms", lambda: BEGIN_MS + 20_000)
    view = FleetView()
    for number in range(200):
        predicted(view, source_timestamp=BEGIN_MS + 100 * number, source_offset=number)
    view.set_ends({0: (0, 230), 1: (5, 9)})
    summary = view.summary()
    assert summary.latency_p50_ms == summary.latency_p99_ms == 40
    assert summary.records_per_s == pytest.approx(10, abs=0.5)
    assert summary.lag == 30 + 4
    monkeypatch.setattr(times, "now_ms", lambda: BEGIN_MS + 600_000)
    assert (view.summary().records_per_s, view.summary().latency_p50_ms) == (0.0, None)
    view.set_ends({})
    assert view.summary().lag is None


def test_a_dead_letter_answers_its_reading_too():
    view = FleetView()
    view.set_ends({0: (0, 8)})
    view.add_dead_letters([Arrived("pump-1", b"\0", dead_letter_headers(offset=7), BEGIN_MS, "dead-letters/0/0")])
    assert view.summary().lag == 0


def test_a_clock_that_is_wrong_by_years_does_not_stretch_the_curves():
    view = FleetView()
    for source in (0, -5, 1_000, BEGIN_MS, 99_999_999_999_999):
        fields = prediction(source_timestamp=source, truth="worn")
        view.add_predictions([(fields, BEGIN_MS, framed("prediction", fields))])
    assert len(view.accuracy().times_ms) == 1
    assert len(view.rollout().times_ms) == 1


def test_devices_are_found_in_order_and_in_pages(records):
    view = fed(records)
    assert view.devices().total == 60
    assert len(view.devices().rows) == PAGE_ROWS
    assert len(view.devices(page=1).rows) == 60 - PAGE_ROWS
    assert view.devices(page=9).rows == []
    assert [row.key for row in view.devices("PUMP-0001").rows] == [f"pump-0001{n}" for n in range(10)]
    keys = [row.key for row in view.devices().rows]
    assert keys == sorted(keys)
    worst = [row.accuracy for row in view.devices(order="accuracy").rows]
    assert worst == sorted(worst)  # type: ignore[type-var]  # every device was scored
    newest = [row.last_ms for row in view.devices(order="last").rows]
    assert newest == sorted(newest, reverse=True)
    dead = [row.dead_letters for row in view.devices(order="dead-letters").rows]
    assert dead == sorted(dead, reverse=True)


def test_a_device_opened_has_its_newest_predictions_and_the_lines_for_its_dip(records):
    view = fed(records)
    device = view.device("pump-00007")
    mine = [each.fields for each in records if each.topic == "predictions" and each.key == "pump-00007"]
    assert device is not None
    assert [row.event_id for row in device.predictions] == [each["event_id"] for each in reversed(mine)]
    assert device.predictions[0].scores == mine[-1]["scores"]
    assert device.predictions[0].source == f"readings/1/{mine[-1]['source_offset']}"
    assert [mark.kind for mark in device.accuracy.marks] == ["evolution"]
    assert device.commands[0].startswith("eml capture pump-00007.jsonl --key=pump-00007 --from=")
    assert device.commands[1] == "eml replay pump-00007.jsonl"


def test_a_label_that_came_later_stands_beside_its_prediction():
    view = FleetView()
    predicted(view, source_offset=5)
    late = score_of(truth="broken", right=False, wait_ms=9_000, source_offset=5)
    view.add_scores([(late, BEGIN_MS + 9_000)])
    device = view.device("pump-1")
    assert device is not None
    assert device.predictions[0].truth == "broken"


def test_a_devices_name_is_quoted_in_the_lines():
    view = FleetView()
    predicted(view, key="$(rm -rf ~); 'x")
    device = view.device("$(rm -rf ~); 'x")
    assert device is not None
    assert """--key='$(rm -rf ~); '"'"'x'""" in device.commands[0]
    assert "rm--rf-x.jsonl" in device.commands[0]


def test_evolutions_alike_are_one_row_with_what_became_of_them():
    view = FleetView()
    for number in range(30):
        at = BEGIN_MS + 1_000 * number
        view.add_evolutions([(evolution(key=f"pump-{number}", source_timestamp=at), at + 40)])
    for number in range(10):
        at = BEGIN_MS + 60_000
        came = recovery(back_after=None if number < 4 else 100 + number) | {"key": f"pump-{number}"}
        view.add_evolutions([(came | {"source_timestamp": at}, at)])
    (row,) = view.evolutions().rows
    assert (row.kind, row.key, row.devices, row.time_ms) == ("evolution", "pump-0", 30, BEGIN_MS)
    assert (row.old_version, row.new_version) == ("readings-value v1", "readings-value v2")
    assert (row.vanished, row.survived, row.augmented, row.warm) == (1, 2, 1, True)
    detail = view.evolution(row.number)
    assert detail is not None
    assert detail.row == row
    assert detail.takeovers == {"oil_pressure": (0.75, "temperature")}
    assert detail.renamed == {"speed": "rpm"}
    assert detail.ignored == {"note": "string"}
    assert detail.recovered == 10
    assert detail.accuracy_first == pytest.approx(0.7)
    assert detail.cold_accuracy_first == pytest.approx(0.5)
    assert detail.recovered_after == 108  # the fifth of ten, four of which never came back
    assert detail.regret == -200
    assert detail.shares == {"survived": 0.25, "joint": 0.75}
    assert view.summary().regret == -200


def test_events_of_other_kinds_versions_or_times_are_other_rows():
    view = FleetView()
    for kind, at in (("evolution", 0), ("announced", 0), ("evolution", 3_000_000)):
        view.add_evolutions([(evolution(kind, source_timestamp=BEGIN_MS + at), BEGIN_MS + at)])
    view.add_evolutions([(evolution(new_version=3), BEGIN_MS)])
    drift = {"error_before": 0.1, "error_after": 0.4, "records_before": 90, "records_after": 30}
    view.add_evolutions([(evolution("drift", old_version=3, new_version=3, drift=drift), BEGIN_MS + 99)])
    rows = view.evolutions().rows
    assert len(rows) == 5
    assert rows[0].time_ms == BEGIN_MS + 3_000_000
    evolved = next(row for row in rows if row.new_version.endswith("v3") and row.kind == "evolution")
    detail = view.evolution(evolved.number)
    assert detail is not None
    assert "10% to 40%" in detail.drift


def test_the_oldest_rows_of_evolutions_are_forgotten():
    view = FleetView()
    for number in range(500):
        at = BEGIN_MS + 3_600_000 * (number - 500)
        view.add_evolutions([(evolution(key=f"pump-{number}", source_timestamp=at), at)])
    assert view.evolutions().total == 300
    assert view.evolution(1) is None
    assert view.evolutions().rows[0].key == "pump-499"


def test_predictions_are_kept_for_all_devices_within_one_bound(monkeypatch):
    monkeypatch.setattr(devices_module, "ROWS", 1_000)
    view = fed(SyntheticFleet(100, 5_000).said())
    shown = [view.device(row.key) for page in (0, 1) for row in view.devices(page=page).rows]
    counts = [len(each.predictions) for each in shown if each]
    assert len(counts) == 100
    assert sum(counts) <= 1_000
    assert min(counts) >= 3


def test_of_too_many_devices_the_silent_ones_are_forgotten(monkeypatch):
    monkeypatch.setattr(devices_module, "MOST", 100)
    view = FleetView()
    for number in range(1_000):
        predicted(view, key=f"pump-{number}", source_timestamp=BEGIN_MS + 1000 * number)
    summary = view.summary()
    assert 95 <= summary.devices <= 100
    assert sum(summary.versions.values()) == sum(summary.stages.values()) == summary.devices
    assert view.device("pump-999") is not None
    assert view.device("pump-0") is None


def test_one_thread_feeds_it_while_others_ask(records):
    view = FleetView()
    failed: list[Exception] = []

    def ask():
        while reading.is_alive():
            try:
                view.summary(), view.rollout(), view.accuracy(), view.features(), view.evolutions()
                view.devices(order="accuracy"), view.device("pump-00001"), view.dead_letters(), view.dead_letter(1)
            except Exception as error:  # noqa: BLE001  whatever it is
                failed.append(error)

    reading = threading.Thread(target=fed, args=(records, view))
    asking = [threading.Thread(target=ask) for _ in range(3)]
    reading.start()
    for thread in asking:
        thread.start()
    for thread in (reading, *asking):
        thread.join(60)
    assert failed == []
    assert view.summary().devices == 60
