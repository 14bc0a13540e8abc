"""Events in on one side, schemas and rows out on the other, and whether they are the right ones."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from boto3.dynamodb.types import TypeDeserializer

from demo.accounts import CONSUMER, PRODUCER, ROOT, read_log
from demo.screen import StepFailedError
from penstock.schemas import diff_schemas, load_schema

EVENTS = ("empty", "add_temperature", "empty", "nested")
_ROW_SECONDS = 60  # a mapping that was just made may still be joining its group
_ITEM = TypeDeserializer()
_AWS = Path(sys.executable).with_name("aws")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """An event that the producer function has written, and what the function answered."""

    event: dict[str, Any]
    answer: dict[str, Any]

    @property
    def source(self) -> str:
        """The record's coordinates, which its row carries."""
        return "{topic}/{partition}/{offset}".format(**self.answer)

    def describe(self) -> Row:
        """Say for the table what was sent and under which version."""
        schema = self.answer["schema"]
        return {
            "event": json.dumps(self.event, default=str),
            "version": schema["version"],
            "new": "yes" if schema["created"] else "",
            "record": self.source,
        }


def send(function: str, name: str) -> Sent:
    """Invoke the producer function with one of its test events, by the command of the README.

    Raises:
        StepFailedError: the function refused it, or failed.
    """
    payload = ROOT / "lambdas" / "producer" / "events" / f"{name}.json"
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        words = ["lambda", "invoke", "--function-name", function]
        done = subprocess.run(
            [_AWS, *words, "--payload", f"fileb://{payload}", out.name],
            env=PRODUCER.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        answer = Path(out.name).read_text()
    if done.returncode or "FunctionError" in done.stdout:
        said = answer or done.stderr.strip()
        why = f"{function} did not take {name}.json: {said}"
        raise StepFailedError(f"{PRODUCER.where}, function {function}", why, read_log(function))
    # As DynamoDB has numbers: exact.
    event = json.loads(payload.read_text(), parse_float=Decimal)
    return Sent(event, json.loads(answer))


def read_rows(table: str) -> dict[str, Row]:
    """Read all rows of the consumer's table by the records that they come from."""
    pages = CONSUMER.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    items = [item for page in pages for item in page["Items"]]
    rows = [{name: _ITEM.deserialize(value) for name, value in item.items()} for item in items]
    return {row["_source"]: row for row in rows}


def await_rows(outputs: dict[str, Any], sent: Sequence[Sent]) -> dict[str, Row]:
    """Wait until each event has its row.

    Raises:
        StepFailedError: it has not; what the mapping and the function say.
    """
    deadline = time.monotonic() + _ROW_SECONDS
    while True:
        rows = read_rows(outputs["readings_table"])
        missing = [one.source for one in sent if one.source not in rows]
        if not missing:
            return rows
        if time.monotonic() > deadline:
            raise _explain(outputs, missing)
        time.sleep(0.2)


def check_rows(sent: Sequence[Sent], before: dict[str, Row], after: dict[str, Row]) -> None:
    """Compare the table with what was sent, value by value.

    Raises:
        StepFailedError: a row is wrong, is one too many, or an old one is not as it was.
    """
    problems = [
        f"{source}: was changed" for source in before if after.get(source) != before[source]
    ]
    new = {source: row for source, row in after.items() if source not in before}
    for one in sent:
        row = new.pop(one.source, {})
        wanted = _drop_nulls(one.event) | {"_schema": one.answer["schema"]["version"]}
        if (found := _drop_nulls(_fields(row))) != wanted:
            problems.append(f"{one.source}: {found}, expected {wanted}")
    problems += [f"{source}: nobody sent it" for source in new]
    if problems:
        raise StepFailedError(f"{CONSUMER.where}, table", "the rows are not right", problems)


def describe_versions(registry: str, name: str) -> list[str]:
    """Say of each version of a schema what it added to the one before."""
    glue = PRODUCER.client("glue")
    schema_id = {"RegistryName": registry, "SchemaName": name}
    listed = glue.get_paginator("list_schema_versions").paginate(SchemaId=schema_id)
    numbers = sorted(one["VersionNumber"] for page in listed for one in page["Schemas"])
    lines, previous = [], None
    for number in numbers:
        asked = {"SchemaId": schema_id, "SchemaVersionNumber": {"VersionNumber": number}}
        schema = load_schema(glue.get_schema_version(**asked)["SchemaDefinition"])
        added = f"{diff_schemas(previous, schema)}".splitlines() if previous else ["the first"]
        lines += [f"v{number}  {added[0]}", *(f"    {line}" for line in added[1:])]
        previous = schema
    return lines


def show_row(row: Row) -> Row:
    """Write a row's values as the table shows them."""
    return {
        name: json.dumps(value, default=str) if isinstance(value, dict | list) else value
        for name, value in row.items()
    }


def _fields(row: Row) -> Row:
    """What a row has of its event, and the version."""
    own = {"deviceId", "readingId", "timestamp"}
    return {
        name: value
        for name, value in row.items()
        if name == "_schema" or (name not in own and not name.startswith("_"))
    }


def _drop_nulls(value: Any) -> Any:
    """A null says nothing, wherever it stands: a row need not have it."""
    if isinstance(value, list):
        return [_drop_nulls(item) for item in value]
    if isinstance(value, dict):
        return {name: _drop_nulls(item) for name, item in value.items() if item is not None}
    return value


def _explain(outputs: dict[str, Any], missing: Sequence[str]) -> StepFailedError:
    lambda_ = CONSUMER.client("lambda")
    lines = []
    for topic, uuid in outputs["mappings"].items():
        mapping = lambda_.get_event_source_mapping(UUID=uuid)
        lines.append(f"mapping of {topic}: {mapping['State']}, {mapping['LastProcessingResult']}")
    why = f"no row for {', '.join(missing)} within {_ROW_SECONDS} s"
    where = f"{CONSUMER.where}, mapping and function {outputs['function']}"
    return StepFailedError(where, why, lines + read_log(outputs["function"]))
