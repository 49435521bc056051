"""Reads the settings: a file, over it the environment, over both what the caller overrides.

Called by `job` and the tools as `eml.settings.load`; calls `kinds` for each value and `checks` for what the values
make together. Knows where each value came from, and says so when it is wrong.
"""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_type_hints

from eml.core import EmlError, FeatureError, LearnerConfig
from eml.settings.checks import findings, range_problem
from eml.settings.kinds import KindError, converted, is_text, parsed
from eml.settings.sections import Settings

SECTIONS: dict[str, type] = get_type_hints(Settings)
KINDS: dict[str, dict[str, Any]] = {section: get_type_hints(kind) for section, kind in SECTIONS.items()}
# A secret, and the setting that names a file with it instead.
SECRET_FILES = {"registry.password": "registry.password_file", "registry.bearer_token": "registry.bearer_token_file"}
RIVALS = {**SECRET_FILES, **{file: secret for secret, file in SECRET_FILES.items()}}
# Settings that were removed or renamed: the old name is refused, and the message says what to use.
REMOVED = {("job", "cached_learners"): "limits.cached_bytes alone bounds the models in memory"}
RENAMED = {("learner", "spell"): "one_hot", ("learner", "squash"): "arcsinh"}


class SettingsError(EmlError):
    """Settings that cannot be used; `problems` has a line for everything that is wrong."""

    exit_status = 2  # eml.terminal.USAGE

    @property
    def problems(self) -> tuple[str, ...]:
        """Where each problem is, what it is, and what to do."""
        return self.args

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"the settings cannot be used: {self.problems[0]}"
        return "the settings cannot be used:\n" + "\n".join(f"  - {line}" for line in self.problems)


def load(
    path: Path | None = None, environ: Mapping[str, str] = os.environ, overrides: Mapping[str, object] = {}
) -> Settings:
    """The settings of the file (`path`, else the one EML_SETTINGS names, else none), environment and overrides.

    Later ones win; only Kafka's properties are added up, one by one. What the file calls `start` under `[kafka]` is
    EML_KAFKA_START in the environment and `kafka.start` in the overrides, and there text for a setting that is no
    text is read as TOML. Empty text unsets an optional setting. Raises SettingsError with all that is wrong.
    """
    draft = Draft.of(path, environ)
    draft.add_overrides(overrides)
    return draft.finished()


@dataclass(frozen=True, slots=True)
class Source:
    """Where values come from, and how it writes the name of a setting."""

    name: Callable[[str, str], str]
    prefix: str = ""
    toml_in_text: bool = True  # a shell knows only text


ENVIRONMENT = Source(lambda section, key: f"EML_{section}_{key}".upper())
OVERRIDES = Source(lambda section, key: f"{section}.{key}", "override ")


@dataclass(slots=True)
class Draft:
    """Settings in the making; names are `section.key`."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # where each was set
    wrong: set[str] = field(default_factory=set)  # names without a usable value: nothing more is said of them
    problems: list[str] = field(default_factory=list)

    # -- sources ---------------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, path: Path | None, environ: Mapping[str, str]) -> "Draft":
        """What the file (`path`, else the one EML_SETTINGS names, else none) and the environment say."""
        draft = cls()
        if path is None and environ.get("EML_SETTINGS"):
            path = Path(environ["EML_SETTINGS"])
        if path is not None:
            draft.add_file(path)
        draft.add_environment(environ)
        return draft

    def add_file(self, path: Path) -> None:
        """Take what stands in a file."""
        source = Source(_in_file, f"{path}: ", toml_in_text=False)
        taken = {}
        for section, table in _tables(path).items():
            if section in KINDS and isinstance(table, dict):
                taken.update({(section, key): value for key, value in table.items()})
            else:
                self.problems.append(f"{path}: [{section}]: {_no_section(section)}")
        self._add(source, taken)

    def add_environment(self, environ: Mapping[str, str]) -> None:
        """Take the variables that begin with a section's name; the others are not ours."""
        taken = {}
        for variable in sorted(environ):
            prefix, _, name = variable.partition("_")
            section, _, key = name.lower().partition("_")
            if prefix == "EML" and section in KINDS and key:
                taken[section, key] = environ[variable]
        self._add(ENVIRONMENT, taken)

    def add_overrides(self, overrides: Mapping[str, object]) -> None:
        """Take the caller's own."""
        taken = {}
        for name, value in overrides.items():
            section, _, key = name.partition(".")
            if section in KINDS:
                taken[section, key] = value
            else:
                self.problems.append(f"override {name}: {_no_section(section)}")
        self._add(OVERRIDES, taken)

    def _add(self, source: Source, values: Mapping[tuple[str, str], object]) -> None:
        for (section, key), value in values.items():
            if value:  # a later source wins, in whatever way it tells a secret
                self.values.pop(RIVALS.get(f"{section}.{key}", ""), None)
        for (section, key), value in values.items():
            name, place = f"{section}.{key}", source.prefix + source.name(section, key)
            if key not in KINDS[section]:
                self.problems.append(f"{place}: {_no_setting(source, section, key)}")
                continue
            try:
                self._put(name, _value(source, KINDS[section][key], value), place)
            except KindError as error:
                self._refuse([name], place, str(error))

    def _put(self, name: str, value: object, place: str) -> None:
        problem = range_problem(name, value)
        if problem:
            raise KindError(problem)
        if isinstance(value, dict) and name in self.values:
            value, place = self.values[name] | value, f"{self.places[name]} and {place}"
        self.values[name], self.places[name] = value, place

    # -- the whole -------------------------------------------------------------------------------------------------

    def finished(self) -> Settings:
        """The settings, if nothing is wrong with them."""
        for secret, file in SECRET_FILES.items():
            self._check_secret_file(secret, file)
        sections = {section: self._section(section) for section in SECTIONS}
        settings = Settings(**sections)
        for names, what in findings(settings):
            if not self.wrong.intersection(names):
                self.problems.append(f"{self._place(names)}: {what}")
        if self.problems:
            raise SettingsError(*self.problems)
        return settings

    def _check_secret_file(self, secret: str, file: str) -> None:
        """Only the path is kept: whoever uses the secret reads it, and reads it again when it was rotated."""
        path = self.values.get(file)
        if path is None:
            return
        if self.values.get(secret) is not None:
            self._refuse([secret, file], self._place([secret, file]), "one of the two is enough: take the other out")
            return
        try:
            text = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            self._refuse([file], self._place([file]), f"cannot read {path} ({reason}): make it a readable text file")
            return
        if not text:
            self._refuse([file], self._place([file]), f"{path} is empty: write the secret into it")

    def _section(self, section: str) -> Any:  # noqa: ANN401  one of the dataclasses
        keys = {name.partition(".")[2]: value for name, value in self.values.items() if name.startswith(f"{section}.")}
        try:
            return SECTIONS[section](**keys)
        except FeatureError as error:  # the learner's own rules
            blamed = [f"{section}.{key}" for key in KINDS[section] if key in str(error)]
            if not self.wrong.intersection(blamed):
                self._refuse(blamed, self._place(blamed), str(error))
            return LearnerConfig()

    def _refuse(self, names: Iterable[str], place: str, what: str) -> None:
        self.wrong.update(names)
        self.problems.append(f"{place}: {what}")

    def _place(self, names: Iterable[str]) -> str:
        """Where settings were set; the name of the first in the file where all are defaults."""
        names = list(names)
        places = [self.places[name] for name in names if name in self.places]
        return " and ".join(dict.fromkeys(places)) or _in_file(*names[0].split("."))


def _in_file(section: str, key: str) -> str:
    return f"[{section}] {key}"


def _tables(path: Path) -> dict[str, Any]:
    """What is in a file; nothing more can be said where it is not readable."""
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}): is EML_SETTINGS or the path right?") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: is not UTF-8: save it as such") from None
    except tomllib.TOMLDecodeError as error:
        what = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the last")
        raise SettingsError(f"{path}: is not TOML: {what}") from None


def _value(source: Source, kind: object, value: object) -> object:
    as_toml = source.toml_in_text and isinstance(value, str) and not is_text(kind)
    return converted(kind, parsed(str(value)) if as_toml else value)


def _no_section(section: str) -> str:
    if section in KINDS:
        return "must be a section with keys below it"
    near = get_close_matches(section, KINDS, 1)
    return "there is no such section: " + (f"did you mean [{near[0]}]?" if near else f"there are {', '.join(KINDS)}")


def _no_setting(source: Source, section: str, key: str) -> str:
    if (section, key) in REMOVED:
        return f"this setting was removed: {REMOVED[section, key]}"
    if (section, key) in RENAMED:
        return f"this setting has another name now: {source.name(section, RENAMED[section, key])}"
    near = get_close_matches(key, KINDS[section], 1)
    homes = [(section, near[0])] if near else [(other, key) for other, kinds in KINDS.items() if key in kinds]
    if homes:
        return f"there is no such setting: did you mean {' or '.join(source.name(*home) for home in homes)}?"
    return f"there is no such setting: [{section}] has {', '.join(KINDS[section])}"
