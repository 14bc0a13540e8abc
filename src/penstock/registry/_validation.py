"""The schemas that a program may use, by the registry and schema name in a registry's answer.

IAM cannot restrict GetSchemaVersion by version id (it takes only `*`), so a record can name any
schema of the account. The allow-list restricts a consumer to the registries it should read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from penstock.errors import SchemaForbiddenError, SettingsError


@dataclass(frozen=True, slots=True)
class AllowList:
    """Patterns such as `orders/*` or `*/readings-*`: registry, slash, schema name."""

    patterns: Sequence[str]

    def __post_init__(self) -> None:
        """Raise SettingsError for a pattern that is not of the form REGISTRY/SCHEMA."""
        problems = [
            f"allow-list pattern {pattern!r} is not of the form REGISTRY/SCHEMA"
            for pattern in self.patterns
            if not all(pattern.partition("/")) or pattern.count("/") != 1
        ]
        if problems:
            raise SettingsError(problems)

    def check(self, version_id: str, subject: str) -> None:
        """Raise SchemaForbiddenError unless the subject, REGISTRY/NAME, matches a pattern."""
        registry, _, name = subject.partition("/")
        for pattern in self.patterns:
            allowed_registry, _, allowed_name = pattern.partition("/")
            if fnmatchcase(registry, allowed_registry) and fnmatchcase(name, allowed_name):
                return
        raise SchemaForbiddenError(
            f"schema version {version_id} belongs to {subject}, "
            f"which the allow-list ({', '.join(self.patterns)}) does not hold"
        )
