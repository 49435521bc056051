"""The pages' example for River runs; it needs a newer River than the job's environment can have."""

from tests.unit.docs.blocks import titled


def test_the_example_for_river_runs():
    block = titled("In River")
    names: dict[str, object] = {}
    exec(compile(block.text, str(block), "exec"), names)  # noqa: S102  our own page
    assert names["model"].predict_one({"temperature": 83.0}) == "worn"  # type: ignore[attr-defined]
