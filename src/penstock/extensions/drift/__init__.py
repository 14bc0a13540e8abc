"""Drift: where tables differ from the schema versions whose records they hold, and its removal."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.extensions.drift.differences import Difference
from penstock.extensions.drift.operation import (
    SyncSettings,
    TableSettings,
    sync_lake,
)

if TYPE_CHECKING:
    from penstock.extensions.drift.inspection import (
        Inspection,
        Limits,
        SyncedTable,
        TableTarget,
        inspect_tables,
        sync_tables,
    )

__all__ = [
    "Difference",
    "Inspection",
    "Limits",
    "SyncSettings",
    "SyncedTable",
    "TableSettings",
    "TableTarget",
    "inspect_tables",
    "sync_lake",
    "sync_tables",
]


def __getattr__(name: str) -> Any:
    """Import the names that need pyiceberg and pyarrow on first use."""
    if name in __all__:
        return getattr(import_module("penstock.extensions.drift.inspection"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
