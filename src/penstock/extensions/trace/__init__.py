"""The way of one event: its record, its schema version, its rows, or why it was given up."""

from __future__ import annotations

from penstock.extensions.trace.settings import TraceSettings

__all__ = ["TraceSettings"]
