"""Fault injection: throttling, errors, latency, cut connections, partial batches."""

from __future__ import annotations

from localcloud.faults.injection import MAX_SECONDS, Fault, Faults, Kind, Performed, add_fault

__all__ = ["MAX_SECONDS", "Fault", "Faults", "Kind", "Performed", "add_fault"]
