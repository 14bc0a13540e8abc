"""The Glue catalog is moto's, but for the lock of its tables.

Who commits to an Iceberg table names in UpdateTable the version that it has read, and relies on
being refused when another writer was faster. moto counts versions and lets everybody through.
"""

from __future__ import annotations

import threading
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.glue.models import glue_backends

from localcloud.door.operations import AwsError, Call, HttpAnswer, operation


class CatalogLock:
    """Lets one update after the other look at a table's version and change it."""

    def __init__(self) -> None:
        """Begin open."""
        self.lock = threading.Lock()


@operation("glue", "UpdateTable")
def update_table(call: Call) -> HttpAnswer:
    """Let moto change the table if it still has the version that the caller has read."""
    with call.cloud.state(CatalogLock, call.owner, call.region).lock:
        try:
            table = _find(call)
        except JsonRESTError:
            return call.forward()  # moto says what is missing
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


def _find(call: Call) -> Any:
    backend = glue_backends[call.owner][call.region]
    return backend.get_table(call.params["DatabaseName"], call.params["TableInput"]["Name"])
