"""Apache Avro for Java as a second opinion: one long-lived process that answers JSON lines."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from systems.java import SHORT_LIVED

_HERE = Path(__file__).parent
_JARS = _HERE.parents[1] / "jars"
# Its class path: the newest Avro, and in front of it the one of Glue and of its serialisers.
NEWEST, GLUE = ("test/lib/*",), ("glue/lib/avro-1.11.4.jar", "test/lib/*")
_OUT_OF_MEMORY = 3  # the exit code of ExitOnOutOfMemoryError


class AvroOracle:
    """A running AvroOracle.java; use it as a context."""

    def __init__(self, class_path: Sequence[str] = NEWEST) -> None:
        self._class_path = ":".join(str(_JARS / each) for each in class_path)
        for each in class_path:
            assert any(_JARS.glob(each)), f"found no jars/{each}, run `make install`"

    def __enter__(self) -> AvroOracle:
        self._start()
        return self

    def _start(self) -> None:
        options = ["-Xmx256m", *SHORT_LIVED, "-XX:+ExitOnOutOfMemoryError", "-cp", self._class_path]
        self._process = subprocess.Popen(
            ["java", *options, str(_HERE / "AvroOracle.java")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=90)  # closes its input, at which it ends

    def compare(self, reader: Any, writer: Any) -> list[str]:
        """Give the kinds of incompatibility that Java finds; empty when it can read all."""
        answer = self._ask(op="compare", reader=reader, writer=writer)
        kinds: list[str] = answer["kinds"]
        return kinds

    def encode(self, value: Any, schema: Any) -> bytes:
        """Encode the value with Java."""
        answer = self._ask(op="encode", schema=schema, value=to_wire(value))
        return bytes.fromhex(answer["payload"])

    def decode(self, payload: bytes, writer: Any, reader: Any = None) -> Any:
        """Decode the payload with Java; the value is in the form that `to_wire` gives."""
        reader = writer if reader is None else reader
        answer = self._ask(op="decode", payload=payload.hex(), writer=writer, reader=reader)
        assert answer["complete"], "Java left bytes of the payload unread"
        return answer["value"]

    def _ask(self, **question: Any) -> dict[str, Any]:
        line = self._ask_once(question)
        if line is None:  # Avro keeps something of thousands of schemas
            line = self._ask_once(question)
        if line is None:  # damaged bytes can become more than memory holds
            raise AvroOracleError("OutOfMemoryError")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise AvroOracleError(answer["error"])
        return answer

    def _ask_once(self, question: dict[str, Any]) -> str | None:
        """Return Java's answer; None if its memory was full, so that it was started again."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if line.startswith("{"):
            return line
        self._process.communicate(timeout=90)
        assert self._process.returncode == _OUT_OF_MEMORY
        self._start()
        return None


class AvroOracleError(Exception):
    """Java raised an exception; the message is its class and text."""


_TAGS: dict[type, Callable[[Any], Any]] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    int: lambda value: {"i": value},
    float: lambda value: {"f": struct.pack(">d", value).hex()},
    str: lambda value: {"s": value},
    bytes: lambda value: {"b": value.hex()},
    list: lambda value: [to_wire(item) for item in value],
    dict: lambda value: {"m": {key: to_wire(member) for key, member in value.items()}},
}


def to_wire(value: Any) -> Any:
    """Tag a value as AvroOracle.java does, so that equal means equal in type and in every bit."""
    return _TAGS[type(value)](value)
