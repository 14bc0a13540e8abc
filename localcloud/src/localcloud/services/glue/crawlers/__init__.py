"""Glue's crawlers: they read files on S3 with their role and write tables of the catalog."""

from __future__ import annotations

from localcloud.services.glue.crawlers import operations, runner

__all__ = ["operations", "runner"]
