"""AWS's serialiser for Java: one long-lived process that answers JSON lines."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

_HERE = Path(__file__).parent
_JARS = _HERE.parents[2] / "jars" / "glue" / "lib"


class JavaSerde:
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
        self._keys = {"AWS_ACCESS_KEY_ID": account, "AWS_SECRET_ACCESS_KEY": "any"}

    def __enter__(self):
        assert any(_JARS.glob("schema-registry-serde-*.jar")), "run `make install`"
        command = ["java", "-Xmx256m", "-cp", f"{_JARS}/*", str(_HERE / "GlueSerde.java")]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env=os.environ | self._keys,
        )
        return self

    def __exit__(self, *_):
        self._process.communicate(timeout=30)  # closes its input, at which it ends

    def serialize(self, topic, schema, value, **config):
        """Give a value its schema, registered if need be, and its frame."""
        answer = self._ask(op="serialize", topic=topic, schema=schema, value=value, config=config)
        return bytes.fromhex(answer["payload"])

    def deserialize(self, topic, payload):
        """Read a frame with the schema that it names."""
        answer = self._ask(op="deserialize", topic=topic, payload=payload.hex(), config={})
        return answer["value"]

    def _ask(self, config, **question):
        line = json.dumps(question | {"config": self._config | config})
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise JavaError(answer["error"])
        return answer


class JavaError(Exception):
    """Java raised exceptions; the message is the chain of them."""
