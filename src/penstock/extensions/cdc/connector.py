"""Checks of a connector's settings, and the reasons why a connector stops.

Debezium ignores names of earlier versions without a word, so a setting of 2021 is no setting today
(docs/cdc.md#from-a-connector-of-2021).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_REWRITE: Final = "delete.tombstone.handling.mode=rewrite-with-tombstone"
# By the end of a setting's name, as transforms have names of their own.
_RENAMED: Final = {
    "database.server.name": "topic.prefix",
    "schema.whitelist": "schema.include.list",
    "schema.blacklist": "schema.exclude.list",
    "table.whitelist": "table.include.list",
    "table.blacklist": "table.exclude.list",
    "column.whitelist": "column.include.list",
    "column.blacklist": "column.exclude.list",
    "slot.drop_on_stop": "slot.drop.on.stop",
    "drop.tombstones": _REWRITE,
    "delete.handling.mode": _REWRITE,
}
_ADDED: Final = ("op", "lsn", "source.ts_ms", "source.sequence")
_UNWRAP: Final = "io.debezium.transforms.ExtractNewRecordState"
# Error messages of PostgreSQL, Debezium and the converters, and the state in a description or a
# status, by the page of the reason.
REASONS: Final = {
    "capture-slot-missing": (
        r"replication slot \"[^\"]*\" does not exist|no longer available on the server"
    ),
    "capture-log-removed": (
        r"WAL segment \S+ has already been removed|can no longer get changes from replication slot"
        r"|cannot read from logical replication slot|obtain valid replication slot"
    ),
    "capture-publication-missing": (
        r"publication \"[^\"]*\" does not exist|Publication autocreation is disabled"
    ),
    "capture-wal-level": r"wal_level property must be|requires \"?wal_level",
    "capture-not-replicating": (
        r"must be superuser or replication role|permission denied to start WAL sender"
        r"|permission denied to use replication slots|REPLICATION are not assigned"
    ),
    "capture-slots-in-use": r"all replication slots are in use",
    "capture-login-refused": r"password authentication failed",
    # PostgreSQL says what it could not do; the worker's own disk is of no other use.
    "capture-disk-full": r"could not [^\n]{1,300}: No space left on device",
    "capture-worker-disk-full": r"No space left on device",
    "capture-secret-unreadable": r"the secret \S+ (cannot be read|has no password)",
    "capture-registry-denied": r"glue\.model\.AccessDeniedException",
    "capture-registry-unreachable": (
        r"apicurio\S*RestClientException|Unable to execute HTTP request.*\bglue\."
    ),
    "capture-database-unreachable": r"Connection to \S+ refused|The connection attempt failed",
    "capture-table-missing": r"list filters, no changes will be captured",
    "capture-paused": r"\"(connectorS|s)tate\": ?\"PAUSED\"",
    "capture-stopped": r"will not recover until manually restarted",
    "capture-offsets-missing": r"No previous offset",
}
_SELECTS: Final = "snapshot.select.statement.overrides"
_GENERAL: Final = ("capture-paused", "capture-stopped", "capture-offsets-missing")


def check_connector(settings: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong in the settings of a connector for `jobs/cdc.py`."""
    yield from _find_renamed(settings)
    if _read_word(settings, "skipped.operations") != "none":
        yield "skipped.operations is not none: a TRUNCATE would not reach the tables"
    if _read_word(settings, "decimal.handling.mode") == "double":
        yield "decimal.handling.mode is double, expected precise or string: a double rounds"
    if _read_word(settings, "slot.drop.on.stop") == "true":
        yield "slot.drop.on.stop is true, expected false: changes while it is stopped would be lost"
    if name := next((each for each in settings if each.startswith(_SELECTS)), None):
        yield (
            f"{name} chooses rows, expected whole snapshots: rows that it leaves out would be"
            " deleted; conditions are for incremental snapshots"
        )
    if not settings.get("heartbeat.interval.ms", "0").strip("0"):
        yield (
            "heartbeat.interval.ms is missing, expected a number above 0: in a database whose other"
            " tables change, the slot would keep their log for ever"
        )
    for name, value in settings.items():
        if name.startswith("topic.creation.") and name.endswith(".cleanup.policy"):
            if "compact" in value:
                yield (
                    f"{name} is {value}, expected delete: compaction removes the deletion of a row"
                    " once its tombstone is written, and the broker refuses the record of a"
                    " TRUNCATE, which has no key"
                )
    for name in filter(None, settings.get("transforms", "").split(",")):
        prefix = f"transforms.{name.strip()}"
        if settings.get(f"{prefix}.type") == _UNWRAP:
            yield from _check_transform(prefix, settings)


def find_reason(text: str) -> str | None:
    """Return the name of the page about an error of a connector, or None if it is not known.

    Args:
        text: the log of a connector, or its status as JSON, in which quotes are escaped.
    """
    said = text.replace('\\"', '"')
    ends = {
        name: found[-1].end()
        for name, pattern in REASONS.items()
        if (found := list(re.finditer(pattern, said)))
    }
    # The last one that is known, since a log also has errors that are over; the first of equals.
    return max(ends, key=lambda name: (name not in _GENERAL, ends[name]), default=None)


def _read_word(settings: Mapping[str, str], name: str) -> str:
    """Return a value as Debezium compares it: spaces around it and capitals do not count."""
    return settings.get(name, "").strip().lower()


def _find_renamed(settings: Mapping[str, str]) -> Iterator[str]:
    for name in settings:
        for old, new in _RENAMED.items():
            if name == old or (name.startswith("transforms.") and name.endswith(f".{old}")):
                yield f"{name} is a name of earlier versions, which Debezium ignores; set {new}"


def _check_transform(prefix: str, settings: Mapping[str, str]) -> Iterator[str]:
    name, _, value = _REWRITE.partition("=")
    if not settings.get(f"{prefix}.{name}", "").startswith("rewrite"):
        yield f"{prefix}.{name} is not {value}: a deletion would have no place in the log"
    added = {each.strip() for each in settings.get(f"{prefix}.add.fields", "").split(",")}
    if missing := [each for each in _ADDED if each not in added]:
        yield f"{prefix}.add.fields lacks {', '.join(missing)}, which order the changes"
