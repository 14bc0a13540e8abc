"""Checks of a connector's settings, and what the error of a connector means.

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
_ADDED: Final = ("op", "lsn", "source.ts_ms")
_UNWRAP: Final = "io.debezium.transforms.ExtractNewRecordState"
# What PostgreSQL and Debezium say, and what it means.
_MEANINGS: Final = (
    (
        r"replication slot \"[^\"]*\" does not exist|no longer available on the server",
        "the replication slot was dropped, or has no log from where the connector stopped: changes"
        " since then are not in Kafka. Delete the connector's offsets and start it with"
        " snapshot.mode=initial: its snapshot fills the tables, and the job deletes the rows that"
        " it lacks",
    ),
    (
        r"WAL segment \S+ has already been removed|can no longer get changes from replication slot",
        "the database has removed the log that the slot needs (max_slot_wal_keep_size). Drop the"
        " slot, delete the connector's offsets and start it: its snapshot fills the tables",
    ),
    (
        r"publication \"[^\"]*\" does not exist",
        "the publication is missing: CREATE PUBLICATION NAME FOR TABLE ..., as the owner of the"
        " tables, with the name of publication.name",
    ),
    (
        r"wal_level",
        "the log has too little for logical decoding: set wal_level=logical, on RDS"
        " rds.logical_replication=1 in the parameter group, and restart the database",
    ),
    (
        r"must be superuser or replication role|permission denied to start WAL sender"
        r"|permission denied to use replication slots",
        "the user may not replicate: ALTER USER NAME REPLICATION, on RDS GRANT rds_replication TO"
        " NAME",
    ),
    (
        r"all replication slots are in use",
        "there is no free replication slot: drop slots that no connector uses"
        " (pg_replication_slots, active = false), or raise max_replication_slots",
    ),
    (
        r"password authentication failed",
        "the database rejects the password: update the secret, and restart the connector",
    ),
)


def check_connector(settings: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong in the settings of a connector for `jobs/cdc.py`."""
    yield from _find_renamed(settings)
    if settings.get("skipped.operations", "t") != "none":
        yield "skipped.operations is not none: a TRUNCATE would not reach the tables"
    if settings.get("decimal.handling.mode") == "double":
        yield "decimal.handling.mode is double, expected precise or string: a double rounds"
    if settings.get("slot.drop.on.stop") == "true":
        yield "slot.drop.on.stop is true, expected false: changes while it is stopped would be lost"
    if not settings.get("heartbeat.interval.ms", "0").strip("0"):
        yield (
            "heartbeat.interval.ms is missing, expected a number above 0: in a database whose other"
            " tables change, the slot would keep their log for ever"
        )
    for name in filter(None, settings.get("transforms", "").split(",")):
        prefix = f"transforms.{name.strip()}"
        if settings.get(f"{prefix}.type") == _UNWRAP:
            yield from _check_transform(prefix, settings)


def explain_failure(text: str) -> str | None:
    """Return what an error of a connector means and what to do, or None if it is not known."""
    found = (meaning for pattern, meaning in _MEANINGS if re.search(pattern, text))
    return next(found, None)


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
