"""JAAS configuration: the login of a Java client of Kafka."""

from __future__ import annotations


def write_login(module: str, **options: str) -> str:
    """Return one login of a JAAS configuration; a value may contain any character."""
    given = "".join(f" {name}={_quote(value)}" for name, value in options.items())
    return f"{module} required{given};"


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
