"""The demonstration: a simulated fleet goes through two upgrades of its sensors while EML runs on Flink and Kafka.

Called by `command`. Starts the stack, the job and the live page (`watch_process`), has the fleet send (`sender`), reads
what the job answers (`observer`), shows it (`screen`), and at the end sets it beside two controls (`controls`) that had
the same records. Everything that was started ends with it, in whatever way it ends.
"""

import time
import uuid
import webbrowser
from contextlib import ExitStack, closing
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from eml.local import jars, picture, screen, topics
from eml.local.controls import EML, Controls
from eml.local.errors import LocalError
from eml.local.fleet import VERSIONS
from eml.local.job_process import SETTINGS_FILE, JobProcess
from eml.local.observer import Observer
from eml.local.registrar import REGISTRY_TIMEOUT_MS, Registrar
from eml.local.results import results
from eml.local.scoreboard import Scoreboard
from eml.local.screen import Screen
from eml.local.sender import Planned, Sender, plan
from eml.local.stack import Stack, running
from eml.local.topics import Topics
from eml.local.watch_process import WatchProcess
from eml.settings import JobSettings, KafkaSettings, RegistrySettings, Settings, describe

CHECKPOINT_MS = 1_000  # readers of committed records wait that long for a prediction
MICRO_BATCH_MS = 100
TICK_S = 0.05
PATIENCE_S = 60.0  # without any sign of the job, until it is given up


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen on the command line."""

    machines: int
    records: int  # per machine and version
    seed: int
    picture: Path
    broker: str | None = None
    registry: str | None = None
    keep: bool = False
    open: bool = False  # the fleet's page in the browser


def run(options: Options, terminal: Screen | None = None) -> None:
    """The whole story; LocalError says what went wrong."""
    terminal = terminal or Screen()
    if options.picture.is_dir() or not options.picture.absolute().parent.is_dir():
        raise LocalError(f"No picture can be written to {options.picture}: name a file in a folder that is there.")
    with ExitStack() as leaving:
        stack = _start_stack(options, terminal, leaving)
        names = _create_topics(options, stack)
        registrar = Registrar(stack.registry_url, names.readings)
        leaving.callback(registrar.close)
        registrar.register(1)  # the later versions when their first records are due
        planned = plan(options.machines, options.records, options.seed)
        job, watch = _start_job(stack, names, terminal, leaving)
        if watch and options.open:
            webbrowser.open(watch.url)
        board = _run_fleet(stack, names, planned, registrar, job, terminal, options.picture)
        _say_where(options, stack, names, job, terminal)
        if options.keep:
            _keep(job)
    if not board.balanced:
        raise LocalError("Not every record has exactly one prediction or dead letter.")


# -- what is started ---------------------------------------------------------------------------------------------------


def _start_stack(options: Options, terminal: Screen, leaving: ExitStack) -> Stack:
    parts = {"Kafka": options.broker, "the registry": options.registry}
    started = [part for part, address in parts.items() if not address]
    sets = ["connector", *(["broker"] if not options.broker else []), *(["registry"] if not options.registry else [])]
    if not all(jars.folder_of(name).is_dir() for name in sets):
        with terminal.step("getting the jars (once, up to 230 MB)"):
            for name in sets:
                jars.jars(name)
    with terminal.step(f"starting {' and '.join(started)}" if started else "asking Kafka and the registry"):
        return leaving.enter_context(running(bootstrap_servers=options.broker, registry_url=options.registry))


def _create_topics(options: Options, stack: Stack) -> Topics:
    """The usual names where all is ours; new ones on a stack that others use, too."""
    shared = options.broker or options.registry
    names = Topics.named(f"demo-{uuid.uuid4().hex[:6]}-" if shared else "")
    topics.create(stack.bootstrap_servers, astuple(names))
    return names


def _start_job(
    stack: Stack, names: Topics, terminal: Screen, leaving: ExitStack
) -> tuple[JobProcess, WatchProcess | None]:
    """The job, and the live page beside it; that has time to come up while the job starts."""
    # Entered first, so left last: the job is stopped before its folder goes.
    folder = Path(leaving.enter_context(TemporaryDirectory(prefix="eml-demo-", ignore_cleanup_errors=True)))
    job = JobProcess(describe(job_settings(stack, names, folder)), folder, scratch=folder)
    leaving.callback(job.stop)
    with terminal.step("starting the job on Flink"):
        job.start()
        watch = _start_watch(folder, leaving) if WatchProcess.installed() else None
        job.wait_until_running()
    terminal.say(f"  Flink's page: {job.page}")
    terminal.say(f"  The fleet's page: {watch.url}" if watch else "  No page of the fleet: pip install 'eml[watch]'")
    return job, watch


def _start_watch(folder: Path, leaving: ExitStack) -> WatchProcess:
    watch = WatchProcess(folder / SETTINGS_FILE, folder, scratch=folder)
    leaving.callback(watch.stop)
    watch.start()
    return watch


def job_settings(stack: Stack, names: Topics, folder: Path) -> Settings:
    """The job's settings: the defaults, but quick to answer."""
    return Settings(
        kafka=KafkaSettings(
            bootstrap_servers=stack.bootstrap_servers,
            readings_topic=names.readings,
            predictions_topic=names.predictions,
            scores_topic=names.scores,
            evolutions_topic=names.evolutions,
            dead_letters_topic=names.dead_letters,
            group_id=names.predictions,
            transactional_id_prefix=names.predictions,
        ),
        registry=RegistrySettings(url=stack.registry_url, timeout_ms=REGISTRY_TIMEOUT_MS),
        job=JobSettings(
            name="eml-demo",
            micro_batch_ms=MICRO_BATCH_MS,
            checkpoint_interval_ms=CHECKPOINT_MS,
            checkpoint_dir=(folder / "checkpoints").absolute().as_uri(),
        ),
    )


# -- the fleet ---------------------------------------------------------------------------------------------------------


def _run_fleet(
    stack: Stack,
    names: Topics,
    planned: list[Planned],
    registrar: Registrar,
    job: JobProcess,
    terminal: Screen,
    path: Path,
) -> Scoreboard:
    """Send everything, take in everything, and show what came of it."""
    board = Scoreboard()
    evolutions = len({each.key for each in planned}) * (len(VERSIONS) - 1)
    with (
        closing(Sender(stack.bootstrap_servers, names.readings, planned, registrar.register)) as sender,
        closing(Observer(stack.bootstrap_servers, names)) as observer,
        Controls(registrar.schemas.__getitem__) as controls,
    ):
        _drive(sender, observer, controls, board, evolutions, job, terminal)
        terminal.say(screen.balance(board))
        with terminal.step("running the controls over the same records, and drawing"):
            outcome = results(board.sent, {EML: board.labels, **controls.finish()})
            picture.draw(path, outcome, board.changes)
    terminal.say()
    terminal.say(screen.summary(outcome))
    terminal.say(f"picture   {path.absolute()}")
    return board


def _drive(
    sender: Sender,
    observer: Observer,
    controls: Controls,
    board: Scoreboard,
    evolutions: int,
    job: JobProcess,
    terminal: Screen,
) -> None:
    """Send what is due and take in what has come, until every record sent is accounted for."""
    started = last = time.monotonic()
    with terminal.live() as live:
        while not (sender.done and board.missing <= 0 and len(board.changes) >= evolutions):
            job.check()
            sent = sender.send_due(time.monotonic() - started)
            board.add_sent(sent)
            controls.feed(sent)
            if observer.poll(board, TICK_S):
                last = time.monotonic()
            terminal.show(board, live)
            if time.monotonic() - last > PATIENCE_S:
                raise LocalError(_nothing_came(board, evolutions, job))
        terminal.show(board, live, last=True)


def _nothing_came(board: Scoreboard, evolutions: int, job: JobProcess) -> str:
    return (
        f"Nothing came from the job for {PATIENCE_S:.0f} s; {board.missing} predictions and"
        f" {evolutions - len(board.changes)} evolution events are missing.\n{job.log_tail()}"
    )


# -- the end -----------------------------------------------------------------------------------------------------------


def _say_where(options: Options, stack: Stack, names: Topics, job: JobProcess, terminal: Screen) -> None:
    """Where to look; what is given by address stays, the rest only if asked to."""
    if options.keep or options.broker:
        terminal.say(f"topics    {', '.join(astuple(names))} on {stack.bootstrap_servers}")
    if options.keep or options.registry:
        terminal.say(f"schemas   {stack.registry_url}/subjects")
    if options.keep:
        terminal.say(f"Flink     {job.page}\n\nEverything keeps running until Ctrl-C.")
    else:
        terminal.say("Stopping what was started; with --keep it stays until Ctrl-C, to look around.")


def _keep(job: JobProcess) -> None:
    while True:
        time.sleep(1)
        job.check()
