"""The settings that travel to Flink's workers inside the job's graph.

Called by the operator when the graph is built. Whoever can read the graph, or Flink's high-availability folder, can
read them: what no worker needs is left out.
"""

from dataclasses import replace

from eml.settings.sections import Settings


def for_workers(settings: Settings) -> Settings:
    """The same settings without Kafka's client properties, which hold its credentials: only the JVM talks to Kafka."""
    return replace(settings, kafka=replace(settings.kafka, properties={}))
