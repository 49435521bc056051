"""What each scenario makes of a kept trial: its code as it is now, and the trial itself, to be run again.

Called by the report's `freshness` and by `confirming`; asks the scenarios' sessions.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

from eml.evaluate import session
from eml.evaluate.catalogue import DATASETS, HAPHAZARD_SETS
from eml.evaluate.datasets import Named
from eml.evaluate.haphazard import session as haphazard_session
from eml.evaluate.haphazard import trial as haphazard_trial
from eml.evaluate.haphazard.streams import Source
from eml.evaluate.haphazard.trial import HaphazardTrial
from eml.evaluate.prequential import session as stream_session
from eml.evaluate.prequential import trial as stream_trial
from eml.evaluate.prequential.course import Plan
from eml.evaluate.prequential.trial import StreamTrial
from eml.evaluate.trial import Trial
from eml.evaluate.trial import perform as perform_paper

AnyTrial = Trial | StreamTrial | HaphazardTrial

_CODE_OF: Mapping[str, Callable[[str], str]] = {
    "stream": stream_session.code_of,
    haphazard_trial.SCENARIO: haphazard_session.code_of,
}  # all others: the paper's


def code_of(scenario: str, method: str) -> str:
    """Return the checksum of the code that a method's figures are made with now; KeyError: there is no such method."""
    return _CODE_OF.get(scenario, session.code_of)(method)


def rebuilt(kept: Mapping[str, Any]) -> AnyTrial | None:
    """Return the trial that was kept; None where it was of a user's own file, which is not named in full."""
    name, rest = kept["dataset"], (kept["seed"], kept["method"], kept["memory"])
    if kept["scenario"] == haphazard_trial.SCENARIO:
        return HaphazardTrial(Source(name), kept["p"], *rest) if name in HAPHAZARD_SETS else None
    if name not in DATASETS:
        return None
    if kept["scenario"] == "stream":
        plan = {field.name: kept[field.name] for field in fields(Plan) if field.name in kept}
        return StreamTrial(Named(name), Plan(**plan), *rest)
    return Trial(Named(name), kept["scenario"], kept["batch"], *rest)


def made_of(trial: AnyTrial) -> dict[str, str]:
    """What a trial's figure would be made of now."""
    match trial:
        case StreamTrial():
            return stream_session.made_of(trial)
        case HaphazardTrial():
            return haphazard_session.made_of(trial)
        case Trial():
            return session.made_of(trial)


def perform(trial: AnyTrial) -> dict[str, Any]:
    """Run one trial, in a worker; its outcome as it is kept."""
    match trial:
        case StreamTrial():
            return asdict(stream_trial.perform(trial))
        case HaphazardTrial():
            return asdict(haphazard_trial.perform(trial))
        case Trial():
            return asdict(perform_paper(trial))
