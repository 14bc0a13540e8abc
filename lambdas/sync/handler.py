"""The sync function: grows the columns of the lake's tables before a batch needs them."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger

from penstock.errors import OperationError, PenstockError
from penstock.extensions.drift import SyncSettings, TableSettings, sync_lake
from penstock.operations import read_stored_settings
from penstock.sinks import FunctionLease, FunctionLeaseSettings

_settings = SyncSettings.from_environ(read_stored_settings(os.environ, "PENSTOCK_SYNC_TABLES"))
_lease = FunctionLease(FunctionLeaseSettings.from_environ(os.environ).table)
# Named after the package, so that the logs of its modules have the same format.
_log = Logger(service="penstock")


@_log.inject_lambda_context
def lambda_handler(event: Any, context: Any) -> dict[str, Any]:
    """Sync the tables, unless another invocation does."""
    with _lease.held_during(context) as is_held:
        return _sync() if is_held else {"skipped": True}


def _sync() -> dict[str, Any]:
    """Make the safe changes of each table, and fail at the end if one could not be synced."""
    done: dict[str, Any] = {}
    problems = []
    for table, schemas in _settings.tables.items():
        target = TableSettings(lake_table=table)
        try:
            found = sync_lake(_settings.registry, schemas, target, apply=True)
        except PenstockError as error:
            problems.append(f"{table}: {error}")
            continue
        done[table] = {
            "changes": [asdict(change) for each in found for change in each.changes],
            "left": [asdict(left) for each in found for left in each.left],
        }
    _log.info(done)
    if problems:
        raise OperationError(f"not every table was synced: {'; '.join(problems)}")
    return done
