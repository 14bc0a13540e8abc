"""Athena: moto keeps work groups and saved queries, and queries run here."""

from __future__ import annotations

from localcloud.services.athena import executions, results, tags

__all__ = ["executions", "results", "tags"]
