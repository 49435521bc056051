"""What the page shows as one file that needs nothing else: to attach to a ticket, to open in a year.

Called by the page's Save and by `eml watch --save`. The file holds the screen that was open, the fleet, its newest
evolutions and dead letters, its charts and Plotly, and a policy that lets no other script run and loads nothing.
"""

from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

from dash.development.base_component import Component
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from eml import __version__
from eml.core.errors import EmlError
from eml.watch import addresses, layout
from eml.watch.addresses import Address
from eml.watch.figures import CONFIG, Figure
from eml.watch.rendering import Rendered
from eml.watch.screens.choice import screen
from eml.watch.views import Fleet

STYLE = Path(__file__).parent / "assets/style.css"
OPENED = 5  # evolutions and dead letters of which all is told
DRAW = "for (const [id, figure, config] of {figures}) Plotly.newPlot(id, figure.data, figure.layout, config);"


def save(fleet: Fleet, path: Path) -> None:
    """Write the file; EmlError says why it cannot be written."""
    try:
        path.write_text(document(fleet), encoding="utf-8")
    except OSError as error:
        raise EmlError(
            f"The page cannot be saved to {path} ({error.strerror}): name a file in a folder that is there."
        ) from error


def file_name(at: datetime | None = None) -> str:
    """A name that sorts by time."""
    return f"eml-watch-{(at or datetime.now(UTC)).strftime('%Y%m%dT%H%M%SZ')}.html"


def document(fleet: Fleet, opened: Address | None = None) -> str:
    """The file's text; the screen that was open comes first."""
    rendered = Rendered()
    body = "".join(f"<article>{rendered.html(part)}</article>" for part in _parts(fleet, opened))
    scripts = [_plotly(), _drawing(rendered.figures)] if rendered.figures else []
    now = datetime.now(UTC).strftime("%-d %B %Y %H:%M:%S")
    summary = fleet.summary()
    said = layout.banner(summary)
    banner = f'<div class="{layout.banner_class(summary)}">{rendered.html(said)}</div>' if said else ""
    return DOCUMENT.format(
        policy=_policy(scripts),
        style=STYLE.read_text(encoding="utf-8"),
        title=f"EML watch, {now} UTC",
        version=__version__,
        body=banner + body,
        scripts="".join(f"<script>{script}</script>" for script in scripts),
    )


DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body class="saved">
<div class="page">
<header class="top"><div class="name"><span class="brand">EML</span><span class="state">{title}</span></div></header>
<main>{body}</main>
<footer>Saved by EML {version}. Times are in UTC.</footer>
</div>
{scripts}
</body>
</html>
"""


def _parts(fleet: Fleet, opened: Address | None) -> list[Component]:
    """The screens in the file, none twice."""
    wanted = [opened] if opened and opened.place else []
    wanted += [Address(addresses.FLEET), Address(addresses.FEATURES), Address(addresses.EVOLUTIONS)]
    wanted += [Address(addresses.EVOLUTIONS, number=row.number) for row in fleet.evolutions(0).rows[:OPENED]]
    wanted += [Address(addresses.DEVICES, order="accuracy"), Address(addresses.DEAD_LETTERS)]
    wanted += [Address(addresses.DEAD_LETTERS, number=row.number) for row in fleet.dead_letters("", 0).rows[:OPENED]]
    return [screen(fleet, address) for address in dict.fromkeys(wanted)]


@cache
def _plotly() -> str:
    """Plotly as its wheel brings it."""
    return str(get_plotlyjs())


def _drawing(figures: list[Figure]) -> str:
    """The one script of ours. Plotly's JSON writes < and > as escapes, so no text can end the script."""
    charts = [(f"chart-{number}", figure, CONFIG) for number, figure in enumerate(figures, 1)]
    return DRAW.replace("{figures}", str(to_json_plotly(charts)))


def _policy(scripts: list[str]) -> str:
    allowed = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    allowed = allowed or "'none'"
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
