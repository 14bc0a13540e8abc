"""Drift: where tables differ from the schema versions whose records they hold, and its removal."""

from __future__ import annotations

from penstock.extensions.drift.differences import Difference
from penstock.extensions.drift.operation import SyncSettings, TableSettings, sync_lake

__all__ = ["Difference", "SyncSettings", "TableSettings", "sync_lake"]
