"""AWS's serialiser for Java: one long-lived process that answers JSON lines."""

from __future__ import annotations

from pathlib import Path

from systems.java import JavaProgram


class JavaSerde(JavaProgram):
    """A running GlueSerde.java; use it as a context."""

    def __init__(self, endpoint, account):
        self._config = {
            "endpoint": endpoint,
            "region": "eu-central-1",
            "registry.name": "plant",
            "dataFormat": "AVRO",
            "avroRecordType": "GENERIC_RECORD",
            "schemaAutoRegistrationEnabled": True,
        }
        keys = {"AWS_ACCESS_KEY_ID": account, "AWS_SECRET_ACCESS_KEY": "any"}
        super().__init__(Path(__file__).with_name("GlueSerde.java"), "glue", keys)

    def serialize(self, topic, schema, value, **config):
        """Give a value its schema, registered if need be, and its frame."""
        config = self._config | config
        answer = self.ask(op="serialize", topic=topic, schema=schema, value=value, config=config)
        return bytes.fromhex(answer["payload"])

    def deserialize(self, topic, payload):
        """Read a frame with the schema that it names."""
        question = {"topic": topic, "payload": payload.hex(), "config": self._config}
        return self.ask(op="deserialize", **question)["value"]
