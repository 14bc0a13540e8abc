"""Glue's registry and DynamoDB in memory, behind the client that Penstock calls AWS with.

The registry is localcloud's store, whose rules have sources. All that Penstock does with an answer,
such as retries and the meaning of errors, is its own code.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.services.glue.registry.compatibility import Mode
from localcloud.services.glue.registry.errors import not_found
from localcloud.services.glue.registry.store import SchemaStore, Status, Version
from penstock.aws import Answer, AwsClient, Timeouts
from penstock.errors import RowExistsError, RowTooLargeError, SinkRefusedError
from tests.simulation.weather import Trouble, Weather
from tests.stubs.dynamodb_tables import DynamoDbTables

_OK, _REFUSED, _FAILED = 200, 400, 500
_READ_SECONDS = 10.0
_ERRORS = {
    Trouble.THROTTLED: ("ThrottlingException", _REFUSED),
    Trouble.DENIED: ("AccessDeniedException", _REFUSED),
    Trouble.FAILED: ("InternalServerError", _FAILED),
    Trouble.ODD: ("UnheardOfException", _REFUSED),
}
_MOST_PENDING_READS = 3
_HIDDEN_SECONDS = 2_000.0
_UNPROCESSED = 0.1  # of batches of rows or keys
_PAGE = 7  # versions of a list, of which AWS may return fewer than it is asked for
_ACCOUNT = "arn:aws:glue:eu-central-1:111111111111:schema"

Handler = Callable[[str, dict[str, Any]], dict[str, Any]]


class SimulatedClient(AwsClient):
    """A client whose calls go through the weather to a handler."""

    def __init__(self, service: str, weather: Weather, handler: Handler) -> None:
        self.endpoint = f"https://{service}.simulated"
        self.timeouts = Timeouts()
        self._service = service
        self._weather = weather
        self._handler = handler
        self.answered = self.under_way = 0

    def send_each(
        self, operation: str, bodies: Sequence[bytes]
    ) -> list[Answer | OSError | HTTPException]:
        """Make the calls one after the other."""
        self.under_way += 1
        answers: list[Answer | OSError | HTTPException] = []
        answers += [self._send(operation, body) for body in bodies]
        self.under_way -= 1
        self.answered += 1
        return answers

    def close(self) -> None:
        """Nothing is open."""

    def _send(self, operation: str, body: bytes) -> Answer | OSError:
        trouble = self._weather.call(self._service)
        if trouble is Trouble.LOST:
            return ConnectionResetError("lost")
        if trouble in _ERRORS:
            code, status = _ERRORS[trouble]
            return _answer(status, {"__type": code, "message": str(trouble)})
        if trouble is Trouble.LATE:
            self._weather.do_late(partial(self._perform, operation, json.loads(body.decode())))
            return TimeoutError(str(trouble))
        answer = self._perform(operation, json.loads(body.decode()))
        if trouble in {Trouble.CUT, Trouble.SLOW}:
            return TimeoutError(str(trouble))
        if trouble is Trouble.DAMAGED:
            emptied = {name: type(value)() for name, value in answer.read_object().items()}
            return Answer(answer.status, {"x-amz-crc32": "1"}, json.dumps(emptied).encode())
        return answer

    def _perform(self, operation: str, request: dict[str, Any]) -> Answer:
        try:
            return _answer(_OK, self._handler(operation, request))
        except AwsError as error:
            return _answer(_REFUSED, {"__type": error.code, "message": error.message})
        except RowExistsError as error:
            code = "ConditionalCheckFailedException"
            return _answer(_REFUSED, {"__type": code, "message": str(error)})
        except SinkRefusedError as error:
            size = "Item size has exceeded" if isinstance(error, RowTooLargeError) else ""
            said = f"{size} {error}"
            return _answer(_REFUSED, {"__type": "ValidationException", "message": said})


class _Given(Answer):
    """An answer that holds its object, which nobody changes."""

    content: Any

    def read_object(self) -> dict[str, Any]:
        return dict(self.content)


def _answer(status: int, content: dict[str, Any]) -> Answer:
    return _Given(status, {}, content)  # type: ignore[arg-type]


@dataclass
class SimulatedGlue:
    """The operations of Glue that producers and consumers call."""

    chance: random.Random
    store: SchemaStore = field(default_factory=SchemaStore)
    hidden_until: dict[str, float] = field(default_factory=dict)  # by the id of the version

    def handle(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform an operation."""
        done: dict[str, Any] = getattr(self, f"_{operation}")(request)
        return done

    def versions(self, name: str, *statuses: Status) -> list[Version]:
        """Return the versions of a schema with one of these statuses, oldest first."""
        try:
            found = self.store.list_versions(f"{_ACCOUNT}/simulated/{name}")
        except AwsError:
            return []  # no producer has created it yet
        return [each for each in found if each.status in statuses]

    def add_refused(self, name: str) -> Version | None:
        """Register a version with one more field without a default, which BACKWARD refuses."""
        versions = self.versions(name, Status.AVAILABLE)
        if not versions:
            return None  # no producer has created the schema yet
        schema = json.loads(versions[-1].definition)
        schema["fields"].append({"name": "must", "type": "long"})
        self.store.pending_reads = 0
        refused = self.store.add(versions[0].subject, json.dumps(schema))
        assert refused.status is Status.FAILURE, refused
        return refused

    def add_late(self, name: str) -> Version | None:
        """Add a schema of its own that nobody sees for some time, as with rights to come."""
        if not (versions := self.versions(name, Status.AVAILABLE)):
            return None
        schema = json.loads(versions[0].definition)
        schema["fields"].append({"name": "must", "type": "long"})
        subject = f"{versions[0].subject}-{len(self.hidden_until)}"
        made = self.store.create(subject, json.dumps(schema), Mode.BACKWARD)
        assert made is not None, subject
        self.hidden_until[made.id] = time.monotonic() + self.chance.uniform(0, _HIDDEN_SECONDS)
        return made

    def find(self, version_id: str) -> Version:
        """Return a version by id."""
        return self.store.read(version_id)

    def _CreateSchema(self, request: dict[str, Any]) -> dict[str, Any]:
        subject = f"{_ACCOUNT}/{request['RegistryId']['RegistryName']}/{request['SchemaName']}"
        made = self.store.create(
            subject, request["SchemaDefinition"], Mode(request["Compatibility"])
        )
        if made is None:
            raise AwsError("AlreadyExistsException", "Schema already exists.")
        return {"SchemaVersionId": made.id}

    def _RegisterSchemaVersion(self, request: dict[str, Any]) -> dict[str, Any]:
        self.store.pending_reads = self.chance.randint(0, _MOST_PENDING_READS)
        return {
            "SchemaVersionId": self.store.add(_subject(request), request["SchemaDefinition"]).id
        }

    def _GetSchemaByDefinition(self, request: dict[str, Any]) -> dict[str, Any]:
        found = self.store.find(_subject(request), request["SchemaDefinition"])
        if found is None:
            raise not_found("Schema version")
        return {"SchemaVersionId": found.id}

    def _GetSchemaVersion(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.hidden_until.get(request.get("SchemaVersionId", ""), 0.0) > time.monotonic():
            raise not_found("Schema version")
        if "SchemaVersionId" in request:
            found = self.store.read(request["SchemaVersionId"])
        else:
            number = request["SchemaVersionNumber"]["VersionNumber"]
            found = self.store.read_number(_subject(request), number)
        return {
            "SchemaVersionId": found.id,
            "SchemaArn": found.subject,
            "VersionNumber": found.number,
            "Status": found.status.value,
            "SchemaDefinition": found.definition,
            "DataFormat": found.data_format,
            "CreatedTime": found.registered_at.isoformat(),
        }

    def _ListSchemaVersions(self, request: dict[str, Any]) -> dict[str, Any]:
        found = self.store.list_versions(_subject(request))
        start, most = int(request.get("NextToken", 0)), min(_PAGE, request["MaxResults"])
        page = found[start : start + most]
        answer: dict[str, Any] = {"Schemas": [{"VersionNumber": each.number} for each in page]}
        return answer | ({"NextToken": str(start + most)} if start + most < len(found) else {})

    def _GetSchema(self, request: dict[str, Any]) -> dict[str, Any]:
        mode, checkpoint = self.store.rule(_subject(request))
        return {"Compatibility": mode.value, "SchemaCheckpoint": checkpoint}

    def _PutSchemaVersionMetadata(self, request: dict[str, Any]) -> dict[str, Any]:
        pair = request["MetadataKeyValue"]
        made = self.store.put_metadata(
            request["SchemaVersionId"], pair["MetadataKey"], pair["MetadataValue"]
        )
        if not made:
            raise AwsError("AlreadyExistsException", "The pair already exists.")
        return {}


def _subject(request: dict[str, Any]) -> str:
    schema = request["SchemaId"]
    return f"{_ACCOUNT}/{schema['RegistryName']}/{schema['SchemaName']}"


@dataclass
class SimulatedTables:
    """DynamoDB, which now and then leaves a part of a batch unprocessed, or keys unread.

    `replaced` gets the open dead letters that another one took the place of.
    """

    weather: Weather
    chance: random.Random
    tables: DynamoDbTables
    replaced: list[str]

    def handle(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform an operation."""
        left: dict[str, Any] = {}
        if operation == "BatchWriteItem" and self.weather.happens("unprocessed rows", _UNPROCESSED):
            ((table, puts),) = request["RequestItems"].items()
            some = self.chance.randrange(len(puts) + 1)
            request = {"RequestItems": {table: puts[some:]}}
            left = {table: puts[:some]} if some else {}
        if operation == "BatchGetItem" and self.weather.happens("unprocessed keys", _UNPROCESSED):
            return self._read_some(request["RequestItems"])
        before = self._find_letter(request) if operation == "PutItem" else None
        done: dict[str, Any] = getattr(self.tables, f"_{operation}")(request)
        if before is not None and "doneAt" not in before:
            self.replaced.append(before["id"]["S"])
        return done | ({"UnprocessedItems": left} if left else {})

    def _read_some(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Read the keys of some of the tables, and leave the others unread."""
        left = {name for name in wanted if self.chance.random() < 1 / 2}
        read = {name: each for name, each in wanted.items() if name not in left}
        found = self.tables._BatchGetItem({"RequestItems": read}) if read else {"Responses": {}}
        return found | {"UnprocessedKeys": {name: wanted[name] for name in left}}

    def _find_letter(self, request: dict[str, Any]) -> dict[str, Any] | None:
        table = self.tables.tables[request["TableName"]]
        return table.get(request["Item"]) if request["TableName"].startswith("errors") else None
