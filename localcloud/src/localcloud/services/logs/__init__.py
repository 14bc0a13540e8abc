"""CloudWatch Logs: moto keeps groups and streams; keys and searches are answered here."""

from __future__ import annotations

from localcloud.services.logs import keys, search

__all__ = ["keys", "search"]
