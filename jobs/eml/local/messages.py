"""Readings of the simulated fleet as Kafka records: framed Avro of a schema version, as devices send them.

Called by the demonstration and by tests with what `fleet` simulates; knows no broker.
"""

import json
from io import BytesIO

import fastavro

from eml.local.fleet import Reading
from eml.stream.output.schemas import schema_text
from eml.stream.wire import frame


class ReadingWriter:
    """Writes readings of version 1, 2 or 3 under the id that the registry gave that version's schema."""

    def __init__(self, version: int, schema_id: int) -> None:
        self.schema_id = schema_id
        schema = json.loads(schema_text(f"readings/v{version}"))
        self._names = [field["name"] for field in schema["fields"] if field["type"] == "double"]
        self._schema = fastavro.parse_schema(schema)

    def write(self, sensor_id: str, event_id: str, event_time: int, reading: Reading) -> bytes:
        """One record's value; the label is inside where the reading is labelled."""
        fields = {
            "sensor_id": sensor_id,
            "event_id": event_id,
            "event_time": event_time,
            "label": reading.state if reading.labelled else None,
            **dict(zip(self._names, reading.values.tolist(), strict=True)),
        }
        payload = BytesIO()
        fastavro.schemaless_writer(payload, self._schema, fields)
        return frame(self.schema_id, payload.getvalue())
