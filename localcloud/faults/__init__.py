"""Faults on demand: throttling, errors, latency, cut connections, batches done in part."""

from __future__ import annotations

from localcloud.faults.injection import MAX_SECONDS, Fault, Faults, Kind, add_fault

__all__ = ["MAX_SECONDS", "Fault", "Faults", "Kind", "add_fault"]
