"""The job's command line: what keeps it from starting is told in a line, before a Java process starts."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.unit.local.listening import kafka, listening

PYTHON = """
import sys, time
begun = time.process_time()
from eml.job import main
try:
    status = main(sys.argv[1:])
except SystemExit as stop:
    status = stop.code
assert not any(name.partition(".")[0] in ("pyflink", "py4j", "ot") for name in sys.modules if "." in name)
assert time.process_time() - begun < 2, "answered in two seconds"
sys.exit(status)
"""
NOBODY = ("-S", "kafka.bootstrap_servers=127.0.0.1:9", "-S", "registry.url=http://127.0.0.1:9")


def said(folder, status: int, *arguments: str) -> str:
    """What a start says that ends with this status, without Java."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("EML_")}
    environ |= {"XDG_STATE_HOME": str(folder), "PATH": "", "JAVA_HOME": str(folder)}
    command = [sys.executable, "-c", PYTHON, *arguments]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_typo_names_what_is_meant(tmp_path):
    assert "no option --freshh: did you mean --fresh?" in said(tmp_path, 2, "--freshh")
    assert "did you mean kafka.start?" in said(tmp_path, 2, *NOBODY, "-S", "kafka.strat=latest")
    assert "-D wants KEY=VALUE, not 'x'" in said(tmp_path, 2, *NOBODY, "-D", "x")
    assert "none.toml: cannot be read" in said(tmp_path, 2, "--settings", "none.toml")


def test_a_broker_that_does_not_answer_is_named(tmp_path):
    last = said(tmp_path, 3, *NOBODY)
    assert last.count("\n") == 1
    assert "no answer from the brokers at 127.0.0.1:9 (connection refused): start Kafka there, or correct" in last


def test_a_registry_that_does_not_answer_is_named(tmp_path):
    with listening(kafka, 3) as broker:
        last = said(tmp_path, 3, *NOBODY, "-S", f"kafka.bootstrap_servers={broker}")
    assert last.count("\n") == 1
    assert "http://127.0.0.1:9: no answer: Connection refused (does it run, and is registry.url right?)" in last


class Empty(BaseHTTPRequestHandler):
    """A registry without a subject."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/subjects" else 404)
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None:
        pass


def test_no_java_says_what_to_install(tmp_path):
    with listening(kafka, 3) as broker, ThreadingHTTPServer(("127.0.0.1", 0), Empty) as registry:
        threading.Thread(target=registry.serve_forever, daemon=True).start()
        addresses = f"kafka.bootstrap_servers={broker}", f"registry.url=http://127.0.0.1:{registry.server_port}"
        last = said(tmp_path, 1, "-S", addresses[0], "-S", addresses[1])
        registry.shutdown()
    assert "holds no bin/java. Install a Java 17" in last.splitlines()[-1]


def test_the_folder_s_settings_are_taken(tmp_path):
    (tmp_path / "eml.toml").write_text('[kafka]\nbootstrap_servers = "127.0.0.1:10"\n[registry]\nurl = "http://x"\n')
    assert "at 127.0.0.1:10 " in said(tmp_path, 3)
