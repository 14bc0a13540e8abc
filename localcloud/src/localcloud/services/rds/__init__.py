"""RDS for PostgreSQL: each instance is a real PostgreSQL on this machine."""

from __future__ import annotations
