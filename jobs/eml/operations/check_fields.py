"""The result of `eml check` for programs: plain fields of JSON.

Called by `check_command`; takes what `check_report` holds.
"""

from dataclasses import asdict

from eml.operations.check_report import CheckReport


def fields(report: CheckReport) -> dict[str, object]:
    """As JSON."""
    compared = report.comparison
    found: dict[str, object] = {
        "schema": report.schema,
        "against": report.base or None,
        "ok": not report.problems,
        "problems": report.problems,
        "refused": compared.refused or None,
    }
    if compared.schema is not None:
        schema = compared.schema
        found |= {
            "features": list(schema.space.names),
            "categories": sorted(schema.space.categories),
            "retiring": list(compared.retiring),
            "reserved": list(schema.reserved),
            "ignored": [{"name": each.name, "reason": each.reason} for each in schema.ignored],
            "warnings": list(schema.warnings),
            "hints": list(compared.hints),
        }
    if compared.change is not None:
        change = compared.change
        found["change"] = {
            "vanished": list(change.vanished),
            "survived": list(change.survived),
            "augmented": list(change.augmented),
            "renamed": change.renamed,
        }
    found["registry"] = None if report.verdict is None else asdict(report.verdict)
    found["effect"] = None if report.effect is None else asdict(report.effect)
    return found
