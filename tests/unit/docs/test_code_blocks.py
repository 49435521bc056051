"""What README and docs tell people to type works: Python runs, commands and settings are understood, links lead on."""

import argparse
import json
import re

import pytest

from eml import cli, job
from eml.settings import load
from tests.unit.docs.blocks import ROOT, Block, blocks, commands, pages, titled

LANGUAGES = {"python", "sh", "toml", "json", "yaml", "text"}
ELSEWHERE = {  # commands that are not ours
    *("pip", "source", "cp", "eval", "grep", "docker", "kubectl", "flink", "standalone-job.sh", "taskmanager.sh"),
    *("python3.11", ".venv/bin/pip", "python", "mkdir", "cd"),
}
LEAST = {"EML_KAFKA_BOOTSTRAP_SERVERS": "localhost:9092", "EML_REGISTRY_URL": "http://localhost:8081"}
TARGETS = re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
LINK = re.compile(r"(?:\]\(|src=\")(?!https?:|#)([^)\"\s#]+)")
IN_PROSE = re.compile(r"`(?:EML_DATA=\S+ )?eml ((?:[a-z][a-z-]* ?)+)")


def test_every_block_says_what_it_is():
    assert {str(block) for block in blocks() if block.language not in LANGUAGES} == set()


def python_pages() -> list[list[Block]]:
    """Untitled Python blocks of a page belong together; the titled ones are files, and run in other tests."""
    of_pages = [[block for block in blocks("python", page) if not block.title] for page in pages()]
    return [found for found in of_pages if found]


@pytest.mark.parametrize("of_page", python_pages(), ids=lambda found: str(found[0].page.relative_to(ROOT)))
def test_python_runs(of_page: list[Block], tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in of_page:
        exec(compile(block.text, str(block), "exec"), names)  # noqa: S102  our own pages


def test_there_is_python_to_run():
    assert python_pages()


@pytest.mark.parametrize("block", [block for block in blocks("python") if block.title], ids=str)
def test_files_of_python_compile(block: Block):
    compile(block.text, str(block), "exec")


@pytest.mark.parametrize("block", blocks("sh"), ids=str)
def test_commands_are_understood(block: Block):
    found = list(commands(block.text))
    assert found
    for words in found:
        understood(words)


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_steps_of_a_workflow_run_commands_that_are_understood(block: Block):
    lines = [line.strip() for line in block.text.splitlines()]
    (said,) = (line for line in lines if line.startswith("eml "))
    for words in commands(said.replace(">>", "#")):
        understood(words)


def understood(words: list[str]) -> None:
    """Parse a command of ours as it would be; know the name of another."""
    program, *rest = words
    if program == "eml":
        assert "run" in cli.build_parser().parse_args(rest)  # or argparse stops the test with what is wrong
    elif program == "make":
        assert [target for target in rest if "=" not in target and target not in TARGETS] == []
    elif words[:3] == ["python", "-m", "eml.job"]:
        job._parser().parse_args(rest[2:])
    elif words[:2] == ["python", "-m"]:
        assert (ROOT / f"{rest[1].replace('.', '/')}.py").is_file()
    elif "eml.job" in words:  # flink run ... -pym eml.job OPTIONS
        job._parser().parse_args(words[words.index("eml.job") + 1 :])
    else:
        assert program in ELSEWHERE or (ROOT / program).is_file(), words


def test_a_wrong_command_is_not_understood():
    with pytest.raises(SystemExit):
        understood(["eml", "topics", "--no-such-option"])
    with pytest.raises(AssertionError):
        understood(["make", "no-such-target"])
    assert list(commands('eval "$(eml local up | grep x)" && A=1 make y  # why')) == [
        *(["eml", "local", "up"], ["grep", "x"], ["eval", "$(eml local up | grep x)"], ["make", "y"])
    ]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_prose_exist(page):
    for said in IN_PROSE.findall(page.read_text(encoding="utf-8")):
        parser, words = cli.build_parser(), said.split()
        while words and (subparsers := [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]):
            assert words[0] in subparsers[0].choices, said
            parser, words = subparsers[0].choices[words[0]], words[1:]


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_settings_load(block: Block, tmp_path):
    file = tmp_path / "eml.toml"
    file.write_text(re.sub(r"/tls/\S+?\.pem", str(_pem(tmp_path)), block.text))
    assert load(file, LEAST) != load(None, LEAST)


def _pem(folder):
    (folder / "ca.pem").touch()
    return folder / "ca.pem"


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_json_is_json(block: Block):
    try:
        json.loads(f"[{block.text.rstrip().rstrip(',')}]")
    except json.JSONDecodeError:
        assert [json.loads(line) for line in block.text.splitlines()]


def test_the_file_on_the_page_about_replays_does_what_it_says(tmp_path, capsys):
    file = tmp_path / "records.jsonl"
    file.write_text(titled("records.jsonl").text)
    assert cli.main(["replay", str(file)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    predictions = [line["prediction"] for line in lines if "prediction" in line]
    assert predictions[2]["label"] == "healthy"
    assert len(predictions) == 4
    (evolution,) = (line["evolution"] for line in lines if line.get("evolution", {}).get("kind") == "evolution")
    assert (evolution["vanished"], evolution["survived"], evolution["augmented"]) == (
        *(["vibration"], ["temperature"], ["acoustic"]),
    )


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    """MkDocs checks those between its pages, with their anchors; this checks them all as the repository has them."""
    made = {"settings", "topics", "metrics", "cli"}  # from the code, by `make docs`
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve()
        is_made = path.parent == ROOT / "docs/reference" and path.stem in made
        assert is_made or path.exists(), target


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_files_in_prose_exist(page):
    named = re.findall(r"`((?:jobs|tests|tools|deploy|docker|schemas|requirements)/[\w./-]+)`", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_what_is_named_inside_a_file_is_there():
    named = re.findall(r"`(\w+)` of\s+`([\w/]+\.py)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(named) > 4
    for name, file in named:
        assert re.search(rf"^(def )?{name}\b", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), (name, file)


def test_readme_is_one_screen():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 70
