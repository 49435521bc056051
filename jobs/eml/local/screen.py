"""What the demonstration shows in the terminal: its steps, the fleet live, the summary.

Driven by `demo`; reads `scoreboard` and `results` and changes nothing. Where the output is no terminal there are plain
lines instead of pictures that move.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from eml.local.controls import EML
from eml.local.results import VERSION_NUMBERS, Result
from eml.local.scoreboard import Change, Scoreboard

REFRESH_S = 0.25
PLAIN_REFRESH_S = 5.0
MOST_DEVICES = 12  # rows of a screen
BAR = 10  # characters


class Screen:
    """A console, and the time since the demonstration began."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._started = time.monotonic()
        self._shown = -PLAIN_REFRESH_S
        self._told = 0  # evolutions told in plain lines

    @property
    def elapsed_s(self) -> float:
        """Since the demonstration began."""
        return time.monotonic() - self._started

    def say(self, text: RenderableType = "") -> None:
        """Print something that stays; a line is not broken, so that addresses can be copied."""
        self.console.print(text, soft_wrap=isinstance(text, str | Text))

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Something that takes a while: a spinner in a terminal, and how long it took."""
        started = time.monotonic()
        if self.console.is_terminal:
            with self.console.status(f"{what} ..."):
                yield
        else:
            self.say(f"{what} ...")
            yield
        self.say(Text.assemble(("✓ ", "green"), what, (f"  {time.monotonic() - started:.1f} s", "dim")))

    # -- the fleet -------------------------------------------------------------------------------------------------

    @contextmanager
    def live(self) -> Iterator[Live | None]:
        """The part of the screen that moves; None where there is none."""
        if not self.console.is_terminal:
            yield None
            return
        with Live(console=self.console, auto_refresh=False) as live:
            yield live

    def show(self, board: Scoreboard, live: Live | None, *, last: bool = False) -> None:
        """Show the scoreboard if the last time is long enough ago, or if this is the last time."""
        if live is None:
            self._tell_changes(board)
        due = time.monotonic() - self._shown > (REFRESH_S if live else PLAIN_REFRESH_S)
        if not due and not last:
            return
        self._shown = time.monotonic()
        if live is None:
            self.say(f"{_clock(self.elapsed_s)}  {_counts(board).plain}")
        else:
            live.update(fleet(board, self.elapsed_s), refresh=True)

    def _tell_changes(self, board: Scoreboard) -> None:
        for change in board.changes[self._told :]:
            self.say(f"{_clock(self.elapsed_s)}  {change.key} {_versions(change)}: {_changed(change).plain}")
        self._told = len(board.changes)


def fleet(board: Scoreboard, elapsed_s: float) -> Panel:
    """All that is known of the running fleet."""
    return Panel(
        Group(_counts(board), _devices(board), _changes(board.changes)),
        title="[bold]fleet → Kafka → EML on Flink → Kafka[/]",
        title_align="left",
        subtitle=_clock(elapsed_s),
        subtitle_align="right",
        border_style="blue",
        padding=(1, 1, 0, 1),
    )


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _counts(board: Scoreboard) -> Text:
    dead = board.dead_letters.total()
    text = Text.assemble(
        ("sent ", "dim"),
        (f"{len(board.sent):,}", "bold"),
        ("  predicted ", "dim"),
        (f"{board.predictions:,}", "bold"),
        ("  dead letters ", "dim"),
        (f"{dead:,}", "bold red" if dead else "bold"),
        ("  right lately ", "dim"),
        (_percent(board.accuracy), "bold cyan"),
    )
    if board.predictions:
        text.append(", all ", "dim").append(_percent(board.right / board.predictions), "bold")
    return text


def _devices(board: Scoreboard) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("machine")
    table.add_column("schema", justify="center")
    table.add_column("stage", min_width=12)
    table.add_column("sent", justify="right")
    table.add_column("predicted", justify="right")
    table.add_column("right", justify="right")
    table.add_column("", min_width=BAR)
    for name, device in list(board.devices.items())[:MOST_DEVICES]:
        accuracy = device.accuracy
        table.add_row(
            name,
            f"v{device.version}" if device.version else "-",
            Text(device.stage, style="yellow" if device.stage == "inheriting" else ""),
            f"{device.sent:,}",
            f"{device.predicted:,}",
            _percent(accuracy),
            Text("█" * round(BAR * (accuracy or 0.0)), style="cyan"),
        )
    more = len(board.devices) - MOST_DEVICES
    if more > 0:
        table.add_row(f"and {more} more", *[""] * 6, style="dim")
    return table


def _changes(changes: Sequence[Change]) -> Table:
    """Each kind of evolution, and the machines that went through it, in the order in which they did."""
    kinds: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        kinds.setdefault((_versions(change), _changed(change).plain), []).append(change)
    table = Table(box=None, padding=(0, 2, 0, 1), pad_edge=False, show_header=False)
    for alike in kinds.values():
        table.add_row(Text(_versions(alike[0]), style="bold"), _changed(alike[0]))
        more = len(alike) - MOST_DEVICES
        machines = [change.key for change in alike[:MOST_DEVICES]] + ([f"and {more} more"] if more > 0 else [])
        table.add_row("", Text("  ".join(machines), style="dim"))
    return table


def _versions(change: Change) -> str:
    return f"v{change.old_version} → v{change.new_version}"


def _changed(change: Change) -> Text:
    parts = [Text.assemble(("- ", "red"), name) for name in change.vanished]
    parts += [Text.assemble(("+ ", "green"), name) for name in change.augmented]
    parts += [Text.assemble(old, (" ⇒ ", "yellow"), new) for new, old in change.renamed.items()]
    return Text("  ").join(parts)


# -- the end -----------------------------------------------------------------------------------------------------------


def summary(outcome: Sequence[Result]) -> Table:
    """What each model got right: whole versions, and the first 20 % after each switch."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("right predictions")
    for version in VERSION_NUMBERS:
        if version > 1:
            table.add_column(f"v{version}: first\n20 %", justify="right")
        table.add_column(f"v{version}\nall", justify="right")
    columns = [(v, early) for v in VERSION_NUMBERS for early in (True, False) if v > 1 or not early]
    for result in outcome:
        cells = (_percent(result.share(version, early=early)) for version, early in columns)
        table.add_row(result.name, *cells, style="bold cyan" if result.name == EML else "")
    return table


def balance(board: Scoreboard) -> Text:
    """Whether each record got its prediction."""
    dead = board.dead_letters.total()
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in board.dead_letters.most_common())
    equals = "=" if board.balanced else "≠"
    return Text.assemble(
        ("✓ " if board.balanced else "✗ ", "green" if board.balanced else "red"),
        f"{len(board.sent):,} sent {equals} {board.predictions:,} predictions + {dead:,} dead letters",
        f" ({reasons})" if reasons else "",
    )
