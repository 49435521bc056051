"""The settings: file, environment and overrides become one object, or one error that says all."""

import os
import pickle
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from eml.core import EmlError, EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.settings import KafkaSettings, RegistrySettings, Settings, SettingsError, describe, for_workers, load

EXAMPLE = Path(__file__).parents[2] / "deploy" / "eml.toml"
LEAST = {"EML_KAFKA_BOOTSTRAP_SERVERS": "localhost:9092", "EML_REGISTRY_URL": "http://localhost:8081"}
SECTIONS = "kafka, registry, record, model, learning, learner, limits, job"
SECRET = "hunter2-hunter2"  # noqa: S105  guards nothing


def variables(section: str, **keys: str) -> dict[str, str]:
    return LEAST | {f"EML_{section}_{key}".upper(): value for key, value in keys.items()}


def problems(
    environ: dict[str, str], path: Path | None = None, overrides: dict[str, object] | None = None
) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(path, environ, overrides or {})
    return list(caught.value.problems)


def only_problem(environ: dict[str, str], path: Path | None = None) -> str:
    (problem,) = problems(environ, path)
    return problem


@pytest.fixture
def file(tmp_path):
    def write(text: str) -> Path:
        path = Path(tmp_path) / "eml.toml"
        path.write_text(text)
        return path

    return write


# -- what is read ------------------------------------------------------------------------------------------------------


def test_two_settings_are_enough():
    assert load(None, LEAST) == Settings(
        kafka=KafkaSettings(bootstrap_servers="localhost:9092"), registry=RegistrySettings(url="http://localhost:8081")
    )


def test_the_example_file_holds_exactly_the_defaults():
    assert load(EXAMPLE, {}) == load(None, LEAST)


def test_the_example_file_misses_no_setting_and_explains_each():
    tables = tomllib.loads(EXAMPLE.read_text())
    for section in fields(Settings):
        keys = {field.name for field in fields(getattr(Settings(), section.name))}
        assert set(tables[section.name]) == keys
    lines = [line for line in EXAMPLE.read_text().splitlines() if " = " in line and not line.startswith("#")]
    assert all(re.search(r" # \S", line) for line in lines)


def test_the_environment_wins_over_the_file_and_overrides_over_both(file):
    path = file("[kafka]\ngroup_id = 'file'\n[job]\nparallelism = 2\nname = 'file'\n")
    environ = LEAST | {"EML_JOB_PARALLELISM": "3", "EML_JOB_NAME": "environment", "EML_SETTINGS": str(path)}
    loaded = load(None, environ, {"job.name": "override"})
    assert (loaded.kafka.group_id, loaded.job.parallelism, loaded.job.name) == ("file", 3, "override")
    assert load(path, LEAST).job.parallelism == 2


def test_a_path_wins_over_the_file_that_the_environment_names(file):
    path = file("[job]\nname = 'mine'\n")
    assert load(path, LEAST | {"EML_SETTINGS": "/nowhere"}).job.name == "mine"


def test_the_environment_is_the_process_s_own_unless_given(monkeypatch):
    for variable in [name for name in os.environ if name.startswith("EML_")]:
        monkeypatch.delenv(variable)
    for name, value in LEAST.items():
        monkeypatch.setenv(name, value)
    assert load() == load(None, LEAST)


def test_text_is_taken_as_it_stands_and_the_rest_as_toml():
    environ = variables("learner", steps="[0.1, 1]", transform="false", sigma="1", memory_size="1_000")
    loaded = load(None, environ | {"EML_JOB_NAME": "true", "EML_KAFKA_START": "latest"})
    assert loaded.learner == LearnerConfig(steps=(0.1, 1.0), transform=False, sigma=1.0, memory_size=1000)
    assert isinstance(loaded.learner.sigma, float)
    assert (loaded.job.name, loaded.kafka.start) == ("true", "latest")


def test_overrides_may_be_values_or_text():
    loaded = load(None, LEAST, {"job.parallelism": "4", "learner.steps": [0.5], "learning.seed": 7})
    assert (loaded.job.parallelism, loaded.learner.steps, loaded.learning.seed) == (4, (0.5,), 7)


def test_other_variables_are_not_ours():
    environ = {
        "EML_DATA": "x",
        "EML_CACHE": "x",
        "EML_TEST_KAFKA": "x",
        "EML_SETTINGS": "",
        "EML_JOB": "x",
        "PATH": "x",
    }
    assert load(None, LEAST | environ) == load(None, LEAST)


def test_properties_need_no_quotes_and_add_up(file):
    path = file('[kafka.properties]\nsecurity.protocol = "SASL_SSL"\n"client.id" = "file"\n')
    environ = variables("kafka", properties='{ "client.id" = "environment", sasl.mechanism = "PLAIN" }')
    assert load(path, environ).kafka.properties == {
        "security.protocol": "SASL_SSL",
        "client.id": "environment",
        "sasl.mechanism": "PLAIN",
    }


def test_empty_text_unsets_what_is_optional(file):
    path = file("[registry]\nusername = 'u'\npassword = 'p'\n")
    loaded = load(path, variables("registry", username="", password=""))
    assert (loaded.registry.username, loaded.registry.password) == (None, None)


def test_loaded_settings_can_be_sent_to_a_worker():
    loaded = load(None, variables("kafka", properties='{ "client.id" = "x" }'))
    assert pickle.loads(pickle.dumps(loaded)) == loaded  # noqa: S301  our own bytes


# -- secrets -----------------------------------------------------------------------------------------------------------


def test_a_secret_may_stand_in_a_file_of_its_own(file, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    path = file(f"[registry]\nusername = 'u'\npassword_file = '{secret}'\n")
    loaded = load(path, LEAST).registry
    assert (loaded.password, loaded.password_file) == (None, str(secret)), "only the path: it may be rotated"
    token = load(None, variables("registry", bearer_token_file=str(secret)))
    assert (token.registry.bearer_token, token.registry.bearer_token_file) == (None, str(secret))
    assert SECRET.encode() not in pickle.dumps(token)
    other = load(path, variables("registry", password="other")).registry  # noqa: S106
    assert (other.password, other.password_file) == ("other", None)
    inline = file("[registry]\nusername = 'u'\npassword = 'first'\n")
    second = load(inline, variables("registry", password_file=str(secret))).registry
    assert (second.password, second.password_file) == (None, str(secret))


def test_what_travels_to_the_workers_has_no_credentials_of_kafka():
    loaded = load(None, variables("kafka", properties=f'{{ sasl.jaas.config = "{SECRET}" }}', group_id="mine"))
    workers = for_workers(loaded)
    assert SECRET.encode() not in pickle.dumps(workers)
    assert workers.kafka.group_id == "mine"
    assert loaded.kafka.properties, "the settings themselves stay as they are"


def test_subjects_are_a_list_of_texts(file):
    path = file("[record]\nsubjects = ['a-value', 'b']\n")
    assert load(path, LEAST).record.subjects == ("a-value", "b")
    assert load(None, variables("record", label_subjects='["l"]')).record.label_subjects == ("l",)
    assert "must be a list" in only_problem(variables("record", subjects='"a"'))
    assert "must be text" in only_problem(variables("record", subjects="[1]"))
    assert "no subject" in only_problem(variables("record", subjects='[""]'))


def test_a_secret_file_that_gives_no_secret_is_refused(tmp_path):
    missing = only_problem(variables("registry", username="u", password_file=str(tmp_path / "none")))
    assert missing.startswith("EML_REGISTRY_PASSWORD_FILE: cannot read")
    empty = tmp_path / "empty"
    empty.write_text(" \n")
    assert "is empty" in only_problem(variables("registry", username="u", password_file=str(empty)))
    empty.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in only_problem(variables("registry", username="u", password_file=str(empty)))
    both = only_problem(variables("registry", username="u", password=SECRET, password_file=str(empty)))
    assert both.startswith("EML_REGISTRY_PASSWORD and EML_REGISTRY_PASSWORD_FILE: ")


def test_a_secret_told_twice_in_one_source_is_refused_whatever_stands_below_it(file, tmp_path):
    (tmp_path / "secret").write_text(SECRET)
    path = file("[registry]\nusername = 'u'\npassword = 'first'\n")
    twice = variables("registry", password="p", password_file=str(tmp_path / "secret"))  # noqa: S106
    assert "one of the two is enough" in only_problem(twice, path)


def test_no_secret_is_shown_anywhere():
    secrets = variables("registry", username="u", password=SECRET) | {
        "EML_KAFKA_PROPERTIES": f'{{ sasl.jaas.config = "{SECRET}", security.protocol = "SASL_SSL" }}'
    }
    loaded = load(None, secrets)
    for shown in (describe(loaded), repr(loaded), repr(loaded.registry), str(loaded)):
        assert SECRET not in shown
    assert 'password = "***"' in describe(loaded)
    assert '"sasl.jaas.config" = "***"' in describe(loaded)
    assert '"security.protocol" = "SASL_SSL"' in describe(loaded)


@pytest.mark.parametrize(
    "wrong",
    [
        {"EML_REGISTRY_URL": f"http://user:{SECRET}@host:8081"},
        {"EML_REGISTRY_URL": f"user:{SECRET}@host:8081"},
        {"EML_REGISTRY_URL": f"http://user:{SECRET}@[host"},
        {"EML_REGISTRY_PASSWORD": SECRET},
        {"EML_KAFKA_BOOTSTRAP_SERVERS": f"user:{SECRET}@host:9092"},
        {"EML_KAFKA_PROPERTIES": f'{{ "group.id" = "{SECRET}" }}'},
        {"EML_KAFKA_PROPERTIES": f'{{ "ssl.key.password" = "{SECRET}'},
        {"EML_KAFKA_PROPERTIES": f'"{SECRET}"'},
        {"EML_KAFKA_PROPERTIES": f'{{ "ssl.key.password" = ["{SECRET}"] }}'},
    ],
)
def test_no_secret_is_in_an_error(wrong):
    with pytest.raises(SettingsError) as caught:
        load(None, LEAST | wrong)
    error = caught.value
    assert SECRET not in f"{error} {error!r} {error.problems} {error.__cause__} {error.__context__}"


def test_what_is_described_can_be_loaded_again(file):
    environ = variables("learner", steps="[0.1, 1e-7]", low_rank="false") | {"EML_JOB_NAME": 'a "name" \\ \x7f ü'}
    loaded = load(None, environ)
    assert load(file(describe(loaded)), {}) == loaded
    assert load(file(describe(load(EXAMPLE, {}))), {}) == load(EXAMPLE, {})


def test_of_settings_that_changed_only_those_are_described():
    loaded = load(
        None, LEAST | {"EML_KAFKA_GROUP_ID": "mine", "EML_REGISTRY_PASSWORD": SECRET, "EML_REGISTRY_USERNAME": "me"}
    )
    shown = describe(loaded, changed_only=True)
    assert 'group_id = "mine"' in shown
    assert 'password = "***"' in shown
    assert "[learner]" not in shown
    assert "readings_topic" not in shown


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_all_problems_are_reported_at_once_with_their_places(file):
    path = file("[kafka]\nstrat = 'latest'\nstart = 'newest'\n[jobs]\n[job]\nparallelism = true\n")
    said = problems({"EML_REGISTRY_URL": "ftp://host", "EML_JOB_NAMES": "x"}, path, {"learner.rank": 0, "rank": 1})
    expected = [
        f"{path}: [kafka] strat: there is no such setting: did you mean [kafka] start?",
        f"{path}: [kafka] start: must be one of earliest, latest, committed",
        f"{path}: [jobs]: there is no such section: did you mean [job]?",
        f"{path}: [job] parallelism: must be a whole number, not true or false",
        "EML_JOB_NAMES: there is no such setting: did you mean EML_JOB_NAME?",
        "override learner.rank: must be positive, not 0",
        f"override rank: there is no such section: there are {SECTIONS}",
        "EML_REGISTRY_URL: must begin with http:// or https:// and a host, and have no query",
        (
            "[kafka] bootstrap_servers: is missing: set it in the file (`eml init` writes one), or"
            " EML_KAFKA_BOOTSTRAP_SERVERS in the environment"
        ),
    ]
    assert sorted(said) == sorted(expected)


def test_the_error_is_one_of_ours_and_survives_a_pickle():
    with pytest.raises(SettingsError, match=r"(?s)cannot be used:\n  - .*bootstrap_servers.*\n  - .*url") as caught:
        load(None, {})
    assert isinstance(caught.value, EmlError)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  our own bytes
    assert again.problems == caught.value.problems


def test_a_setting_of_another_section_is_told_its_place():
    assert only_problem(variables("kafka", checkpoint_dir="x")).endswith("did you mean EML_JOB_CHECKPOINT_DIR?")
    assert "[learning] has window_records" in only_problem(variables("learning", zzz="x"))


def test_a_setting_that_was_removed_is_told_what_serves_instead():
    assert "limits.cached_bytes alone bounds" in only_problem(variables("job", cached_learners="1000"))


@pytest.mark.parametrize(("old", "new"), [("spell", "one_hot"), ("squash", "arcsinh")])
def test_the_old_name_of_a_setting_is_refused_and_the_new_one_named(file, old, new):
    path = file(f"[learner]\n{old} = false\n")
    assert only_problem(LEAST, path) == f"{path}: [learner] {old}: this setting has another name now: [learner] {new}"
    problem = only_problem(variables("learner", **{old: "false"}))
    assert problem.endswith(f"this setting has another name now: EML_LEARNER_{new.upper()}")


def test_a_file_that_cannot_be_read_is_named(file, tmp_path):
    assert only_problem({"EML_SETTINGS": "/no/such/file"}).startswith("/no/such/file: cannot be read (No such file")
    assert "cannot be read" in only_problem({}, tmp_path)
    path = file("")
    path.write_bytes(b"\xff")
    assert only_problem({}, path) == f"{path}: is not UTF-8: save it as such"


@pytest.mark.parametrize(
    ("text", "line"), [("[kafka]\nstart = latest\n", 2), ("[kafka]\n\nstart = 'latest'\nx = [", 4)]
)
def test_a_mistake_in_toml_is_reported_with_its_line(file, text, line):
    path = file(text)
    problem = only_problem({}, path)
    assert problem.startswith(f"{path}: is not TOML: ")
    assert f"at line {line}" in problem


def test_keys_above_all_sections_are_refused(file):
    path = file("kafka = 3\nparallelism = 2\n")
    assert problems(LEAST, path) == [
        f"{path}: [kafka]: must be a section with keys below it",
        f"{path}: [parallelism]: there is no such section: there are {SECTIONS}",
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[job]\nparallelism = '2'", "[job] parallelism: must be a whole number, not text"),
        ("[job]\nparallelism = 2.0", "[job] parallelism: must be a whole number, not a number"),
        ("[job]\nname = 3", "[job] name: must be text, not a whole number"),
        ("[job]\nname = 2020-01-01", "[job] name: must be text, not a date or time"),
        ("[learner]\ntransform = 1", "[learner] transform: must be true or false, not a whole number"),
        ("[learner]\nsigma = inf", "[learner] sigma: must be a finite number"),
        ("[learner]\nsigma = false", "[learner] sigma: must be a number, not true or false"),
        ("[learner]\nsteps = 0.1", "[learner] steps: must be a list, not a number: [0.05, 0.3]"),
        ("[learner]\nsteps = [0.1, -1]", "[learner] steps: must be positive, not -1.0"),
        ("[learner]\nlam = -1", "[learner] lam: must be 0 or more, not -1.0"),
        ("[learner]\nrefresh = 1.5", "[learner] refresh: must be at most 1, not 1.5"),
        ("[learning]\nseed = -1", "[learning] seed: must be 0 or more, not -1"),
        ("[registry]\ntimeout_ms = 0", "[registry] timeout_ms: must be positive, not 0"),
        ("[registry]\nca_file = []", "[registry] ca_file: must be text, not a list"),
        ("[kafka]\ngroup_id = ''", "[kafka] group_id: must not be empty: leave it out to have the default"),
        (
            "[kafka]\nproperties = 3",
            '[kafka] properties: must be a table, not a whole number: { "security.protocol" = "SSL" }',
        ),
        ("[kafka.properties]\na.b = 3", "[kafka] properties: the value of a.b must be text: put it in quotes"),
    ],
)
def test_values_of_a_wrong_kind_or_size_are_refused(file, text, what):
    path = file(text)
    assert only_problem(LEAST, path) == f"{path}: {what}"


@pytest.mark.parametrize("text", ["", "two words", "1\nother = 2", "[1", "3 4"])
def test_text_that_is_no_toml_is_refused(text):
    assert only_problem(variables("job", parallelism=text)).startswith("EML_JOB_PARALLELISM: is no value of TOML")


@pytest.mark.parametrize(
    "url", ["localhost:8081", "ftp://host", "http://", "http://h:x", "http://h?a=b", "http://[h", "http://a b"]
)
def test_urls_that_name_no_registry_are_refused(url):
    assert only_problem(LEAST | {"EML_REGISTRY_URL": url}).startswith("EML_REGISTRY_URL: ")


@pytest.mark.parametrize("url", ["https://host", "http://10.0.0.1:8081/apis/ccompat/v7", "http://[::1]:8081/"])
def test_urls_of_registries_are_taken(url):
    assert load(None, LEAST | {"EML_REGISTRY_URL": url}).registry.url == url


@pytest.mark.parametrize(
    "servers", ["host", "host:0", "host:65536", "host:x", ":9092", "a:1,,b:2", "SSL://host:9093", "a:1 b:2"]
)
def test_servers_that_are_no_addresses_are_refused(servers):
    said = only_problem(LEAST | {"EML_KAFKA_BOOTSTRAP_SERVERS": servers})
    assert said.startswith("EML_KAFKA_BOOTSTRAP_SERVERS: number ")


@pytest.mark.parametrize("servers", ["host:9092", "a.b-c_d:1, b:65535", "[::1]:9092,10.0.0.1:9092"])
def test_addresses_of_servers_are_taken(servers):
    assert load(None, LEAST | {"EML_KAFKA_BOOTSTRAP_SERVERS": servers}).kafka.bootstrap_servers == servers


def test_half_of_a_credential_or_two_of_them_are_refused(tmp_path):
    pem = tmp_path / "some.pem"
    pem.write_text("x")
    assert only_problem(variables("registry", username="u")) == (
        "EML_REGISTRY_USERNAME: needs password beside it: set that, too"
    )
    assert "needs username" in only_problem(variables("registry", password="p"))  # noqa: S106
    assert "needs key_file" in only_problem(variables("registry", certificate_file=str(pem)))
    assert "needs certificate_file" in only_problem(variables("registry", key_file=str(pem)))
    both = variables("registry", username="u", password="p", bearer_token="t")  # noqa: S106
    assert "exclude each other" in only_problem(both)
    assert "exclude each other" in only_problem(both | {"EML_REGISTRY_BEARER_TOKEN": "", **_file_of_token(pem)})
    assert "needs username" in only_problem(variables("registry", password_file=str(pem)))


def _file_of_token(path: Path) -> dict[str, str]:
    return {"EML_REGISTRY_BEARER_TOKEN_FILE": str(path)}


@pytest.mark.parametrize("name", ["registry_ca_file", "job_connector_jar", "learning_first_model"])
def test_files_that_are_not_there_are_refused(name, tmp_path):
    variable = f"EML_{name}".upper()
    assert only_problem(LEAST | {variable: str(tmp_path)}).startswith(f"{variable}: there is no file {tmp_path} that")


def test_a_first_model_must_be_a_learners_snapshot(tmp_path):
    file = tmp_path / "first.emls"
    file.write_bytes(EvolvingMetricLearner(FeatureSpace(("a", "b"))).snapshot())
    environ = variables("learning", first_model=str(file))
    assert load(None, environ).learning.first_model == str(file)
    file.write_bytes(b"something else")
    assert only_problem(environ).startswith(f"EML_LEARNING_FIRST_MODEL: {file} holds no model: ")


def test_a_connector_on_the_cluster_needs_no_file_here():
    assert load(None, variables("job", connector_jar="cluster")).job.connector_jar == "cluster"


@pytest.mark.parametrize("topic", [".", "..", "a b", "a/b", "ü", "a" * 250])
def test_names_that_are_no_topics_are_refused(topic):
    assert "is no topic" in only_problem(variables("kafka", readings_topic=topic))


@pytest.mark.parametrize("topic", ["...", "a" * 249, "A.b_c-9"])
def test_names_of_topics_are_taken(topic):
    assert load(None, variables("kafka", readings_topic=topic)).kafka.readings_topic == topic


def test_topics_and_reserved_fields_must_differ():
    assert only_problem(variables("kafka", readings_topic="predictions")) == (
        "EML_KAFKA_READINGS_TOPIC: readings_topic and predictions_topic are the same topic to Kafka: name another"
    )
    assert "the same topic" in only_problem(
        variables("kafka", readings_topic="dead_letters", dead_letters_topic="dead.letters")
    )
    assert "the same field, label" in only_problem(variables("record", event_id_field="label"))
    assert "no name of an Avro field" in only_problem(variables("record", key_field="sensor-id"))
    assert load(None, variables("record", key_field="device.id")).record.key_field == "device.id"


def test_exactly_once_needs_a_prefix_and_time():
    assert "needs a prefix" in only_problem(variables("kafka", transactional_id_prefix=""))
    load(None, variables("kafka", transactional_id_prefix="", delivery="at-least-once"))
    short = variables("kafka", transaction_timeout_ms="10_000")
    assert "must be at least 15000" in only_problem(short)
    load(None, short | {"EML_KAFKA_DELIVERY": "at-least-once"})
    load(None, short | {"EML_JOB_CHECKPOINT_INTERVAL_MS": "1_000"})


@pytest.mark.parametrize(
    "name",
    ["bootstrap.servers", "group.id", "transactional.id", "key.serializer", "value.serializer", "key.deserializer",
     "value.deserializer", "isolation.level", "enable.auto.commit", "transaction.timeout.ms", "auto.offset.reset"],
)  # fmt: skip
def test_properties_that_the_job_sets_are_refused_with_what_to_do(name):
    said = only_problem(variables("kafka", properties=f'{{ "{name}" = "x" }}'))
    assert re.fullmatch(rf"EML_KAFKA_PROPERTIES: {re.escape(name)} is the job's own: (set|leave) .*", said)


def test_every_refused_property_is_reported():
    assert len(problems(variables("kafka", properties='{ group.id = "x", isolation.level = "x" }'))) == 2


def test_parallelism_has_its_bounds():
    assert "is below parallelism 200" in only_problem(variables("job", parallelism="200"))
    assert "at most 32768" in only_problem(variables("job", parallelism="32_769"))
    assert (
        load(None, variables("job", parallelism="4_096", max_parallelism="32_768", buckets="4_096")).job.parallelism
        == 4_096
    )


def test_the_waits_of_the_registry_must_grow():
    assert "is below retry_ms" in only_problem(variables("registry", retry_ms="20_000"))


def test_the_learner_s_own_rules_are_reported_with_their_place(file):
    path = file("[learner]\nneighbours = 600\n")
    assert only_problem(LEAST, path) == (
        f"{path}: [learner] neighbours: memory_size 1024 is too small for 600 neighbours: at least 1200"
    )
    # A value that cannot be used is told once, and nothing is concluded from the default in its place.
    said = problems(variables("learner", memory_size="many", sigma="0"), path)
    assert [line.split(":")[0] for line in said] == ["EML_LEARNER_MEMORY_SIZE", "EML_LEARNER_SIGMA"]
