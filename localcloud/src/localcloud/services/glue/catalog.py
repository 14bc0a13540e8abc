"""The Glue catalog is moto's, except for the optimistic lock of its tables and their constraints.

A writer that commits to an Iceberg table sends the version that it has read in UpdateTable, and
must be refused if another writer was faster. moto counts versions but accepts every update, and
names and comments of any length.
"""

from __future__ import annotations

import threading
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.glue.models import glue_backends

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation


class CatalogLock:
    """Serializes the updates of tables: reading the version and changing it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


@operation("glue", "CreateTable")
def create_table(call: Call) -> HttpAnswer:
    """Let moto make the table if the service's model allows it."""
    check_params(call, "ValidationException")
    return call.forward()


@operation("glue", "UpdateTable")
def update_table(call: Call) -> HttpAnswer:
    """Let moto change the table if it still has the version that the caller has read."""
    check_params(call, "ValidationException")
    with call.cloud.state(CatalogLock, call.owner, call.region).lock:
        try:
            table = _find_table(call)
        except JsonRESTError:
            return call.forward()  # moto reports what is missing
        current = table.as_dict()["VersionId"]
        if call.params.get("VersionId", current) != current:
            raise AwsError(
                "ConcurrentModificationException",
                f"Update table failed due to concurrent modifications: {table.name} has version "
                f"{current}, not {call.params['VersionId']}",
            )
        answer = call.forward()
        if answer.status == 200 and call.params.get("SkipArchive"):
            table.delete_version(current)
        return answer


def _find_table(call: Call) -> Any:
    backend = glue_backends[call.owner][call.region]
    return backend.get_table(call.params["DatabaseName"], call.params["TableInput"]["Name"])
