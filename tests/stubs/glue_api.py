"""The part of Glue's API that a schema registry is, over the rules of `SchemaStore`.

A real boto3 client talks to it over HTTP, so what is sent and read is what AWS would see; what the
service itself does is `SchemaStore`'s, with faults on demand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.errors import (
    IncompatibleSchemaError,
    SchemaError,
    SchemaNotFoundError,
    SchemaQuotaError,
)
from penstock.registry import SchemaStore
from penstock.schemas import Compatibility
from tests.stubs.http import Answer

Content = dict[str, Any]
_PREFIX = "arn:aws:glue:eu-central-1:111122223333:schema"


def arn_of(name: str, registry: str = "plant") -> str:
    """The ARN that the stub gives a schema."""
    return f"{_PREFIX}/{registry}/{name}"


class _ApiError(Exception):
    def __init__(self, code: str, message: str, status: int = 400) -> None:
        self.code = code
        self.message = message
        self.status = status
        super().__init__(message)


@dataclass
class _Fault:
    """What goes wrong at one operation, and how many times more."""

    operation: str
    times: float
    error: _ApiError | None = None
    change: Callable[[Content], Content] | None = None
    cut: bool = False


class GlueApi:
    """Answers Glue's calls from a store; `calls` names each that arrived, in order."""

    def __init__(self) -> None:
        self.reset(SchemaStore())

    def reset(self, store: SchemaStore) -> None:
        """Begin anew, as one server and one client serve all tests."""
        self.store = store
        self.calls: list[str] = []
        self._faults: list[_Fault] = []

    def fail(
        self, operation: str, code: str, message: str = "", *, times: float = 1, status: int = 400
    ) -> None:
        """Answer with an error, without effect."""
        self._faults.append(_Fault(operation, times, error=_ApiError(code, message, status)))

    def cut(self, operation: str, *, times: float = 1) -> None:
        """Do what is asked and close the connection without an answer."""
        self._faults.append(_Fault(operation, times, cut=True))

    def change(
        self, operation: str, change: Callable[[Content], Content], *, times: float = 1
    ) -> None:
        """Do what is asked and change the answer."""
        self._faults.append(_Fault(operation, times, change=change))

    def respond(self, headers: dict[str, str], body: bytes) -> Answer:
        """Answer one request."""
        operation = headers["X-Amz-Target"].removeprefix("AWSGlue.")
        self.calls.append(operation)
        fault = self._take_fault(operation)
        try:
            if fault and fault.error:
                raise fault.error
            content = self._perform(operation, json.loads(body))
        except _ApiError as error:
            content = {"__type": error.code, "Message": error.message}
            return error.status, "application/x-amz-json-1.1", json.dumps(content).encode()
        if fault and fault.cut:
            return None
        if fault and fault.change:
            content = fault.change(content)
        return 200, "application/x-amz-json-1.1", json.dumps(content).encode()

    def _take_fault(self, operation: str) -> _Fault | None:
        for fault in self._faults:
            if fault.operation == operation and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def _perform(self, operation: str, request: Content) -> Content:
        try:
            answer: Content = _OPERATIONS[operation](self.store, request)
        except SchemaNotFoundError as error:
            raise _ApiError("EntityNotFoundException", f"{error}.") from error
        except SchemaQuotaError as error:
            raise _ApiError("ResourceNumberLimitExceededException", f"{error}.") from error
        except (SchemaError, IncompatibleSchemaError) as error:
            raise _ApiError("InvalidInputException", f"{error}.") from error
        return answer


def _arn(request: Content) -> str:
    schema_id = request["SchemaId"]
    if "SchemaArn" in schema_id:
        return str(schema_id["SchemaArn"])
    return arn_of(schema_id["SchemaName"], schema_id["RegistryName"])


def _create_schema(store: SchemaStore, request: Content) -> Content:
    arn = arn_of(request["SchemaName"], request["RegistryId"]["RegistryName"])
    mode = Compatibility(request["Compatibility"])
    version = store.create(arn, request["SchemaDefinition"], mode)
    if version is None:
        raise _ApiError("AlreadyExistsException", "Schema already exists.")
    return {
        "SchemaArn": arn,
        "SchemaVersionId": version.id,
        "SchemaVersionStatus": version.status,
    }


def _register_schema_version(store: SchemaStore, request: Content) -> Content:
    version = store.add(_arn(request), request["SchemaDefinition"])
    return {
        "SchemaVersionId": version.id,
        "VersionNumber": version.number,
        "Status": version.status,
    }


def _get_schema_by_definition(store: SchemaStore, request: Content) -> Content:
    version = store.find(_arn(request), request["SchemaDefinition"])
    if version is None:
        raise SchemaNotFoundError("Schema version is not found")
    return {
        "SchemaVersionId": version.id,
        "SchemaArn": version.arn,
        "DataFormat": "AVRO",
        "Status": version.status,
    }


def _get_schema_version(store: SchemaStore, request: Content) -> Content:
    number = request.get("SchemaVersionNumber", {})
    if "SchemaVersionId" in request:
        version = store.read(request["SchemaVersionId"])
    elif number.get("LatestVersion"):
        version = store.read_newest(_arn(request))
    else:
        version = store.read_number(_arn(request), number["VersionNumber"])
    assert version.registered_at is not None
    return {
        "SchemaVersionId": version.id,
        "SchemaDefinition": version.definition,
        "DataFormat": "AVRO",
        "SchemaArn": version.arn,
        "VersionNumber": version.number,
        "Status": version.status,
        "CreatedTime": version.registered_at.isoformat(),
    }


def _get_schema(store: SchemaStore, request: Content) -> Content:
    mode, checkpoint = store.rule(_arn(request))
    return {"SchemaArn": _arn(request), "Compatibility": mode, "SchemaCheckpoint": checkpoint}


def _put_schema_version_metadata(store: SchemaStore, request: Content) -> Content:
    pair = request["MetadataKeyValue"]
    if not store.put_metadata(
        request["SchemaVersionId"], pair["MetadataKey"], pair["MetadataValue"]
    ):
        raise _ApiError("AlreadyExistsException", "Resource already exists.")
    return {"SchemaVersionId": request["SchemaVersionId"], **pair}


_OPERATIONS: dict[str, Callable[[SchemaStore, Content], Content]] = {
    "CreateSchema": _create_schema,
    "GetSchema": _get_schema,
    "GetSchemaByDefinition": _get_schema_by_definition,
    "GetSchemaVersion": _get_schema_version,
    "PutSchemaVersionMetadata": _put_schema_version_metadata,
    "RegisterSchemaVersion": _register_schema_version,
}
