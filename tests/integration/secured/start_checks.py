"""The start check of the job, again and again in one JVM: a file of settings per line in, what it says as JSON out."""

import json
import sys
import time
from pathlib import Path

from eml.core.errors import EmlError
from eml.flink import environment, topics
from eml.local.jars import connector_jar
from eml.settings import load


def main() -> None:
    """Check each file that is named; an empty answer means that all is well."""
    environment.create(load(Path(sys.argv[1])), {}, connector_jar())
    for line in sys.stdin:
        settings, began, said = load(Path(line.strip())), time.monotonic(), ""
        try:
            with topics.admin_client(settings.kafka) as admin:
                topics.check(admin, settings.kafka, settings.job.parallelism)
        except EmlError as error:
            said = str(error)
        sys.stdout.write(json.dumps({"said": said, "seconds": time.monotonic() - began}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
