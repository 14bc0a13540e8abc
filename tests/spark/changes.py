"""A table of a database that writes the records of Debezium, and a job that takes them.

The records have the forms that Debezium 3.6 writes for PostgreSQL 15: a deletion has the key in
`before` with empty values beside it, or the whole row under REPLICA IDENTITY FULL; values out of
line that an update leaves alone are a placeholder; a change of a key is a deletion, a tombstone and
an insert of one place in the log.
"""

from __future__ import annotations

import json
import zlib
from copy import deepcopy
from datetime import UTC, datetime, timedelta

from penstock.consuming import SchemaReaders
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from penstock.extensions.cdc.spark.sink import ChangeSink, LogStates
from penstock.framing import encode_frame
from penstock.registry import CachedRegistry, Registries
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility, encode
from penstock.spark.state.lease import NoLease
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.batches import open_batches
from tests.spark.records import KAFKA, make_record
from tests.spark.sinks import FileErrors

# Yesterday, since a job forgets deletions that are older than Kafka's records.
_NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
NOON_MS = int(_NOON.timestamp()) * 1_000
COLUMNS = {
    "id": ("int", 0),
    "title": ("string", ""),
    "plot": (["null", "string"], None),  # long texts are out of line
    "tags": (["null", {"type": "array", "items": "string"}], None),
    "rate": (["null", "double"], None),
}
LONG = "x" * 40
_LOST = {"plot": UNAVAILABLE, "tags": [UNAVAILABLE]}


class Source:
    """One table, its rows, and the records of its changes.

    A record has its partition, the schema of its key, the key, the schema of its value, the value,
    and the number of records that were sent before it.
    """

    def __init__(self, *, full=False, flattened=False, partitions=1, columns=COLUMNS):
        self.full, self.flattened, self.partitions = full, flattened, partitions
        self.columns, self.key = dict(columns), ("id",)
        self.rows, self.log, self.lsn, self.sent = {}, [], 100, 0
        self.clock_ms = NOON_MS
        self.commit = None  # the place of the last commit before the next change, if it is told

    def insert(self, **row):
        self.lsn += 10
        row = {name: row.get(name, empty) for name, (_, empty) in self.columns.items()}
        self.rows[row["id"]] = row
        self._change("c", row, None, row)

    def update(self, of, **values):
        old = self.rows[of]
        self.lsn += 10
        new = {**old, **values}
        lost = {
            name: placeholder
            for name, placeholder in _LOST.items()
            if name not in values and _is_long(old.get(name))
        }
        if new["id"] != of:
            del self.rows[of]
            self._change("d", old, before=self._old(old))
            self._change("c", new, after=new)
        else:
            before = old if self.full else None
            self._change("u", new, before=before, after={**new, **lost})
        self.rows[new["id"]] = new

    def delete(self, id):
        self.lsn += 10
        old = self.rows.pop(id)
        self._change("d", old, before=self._old(old))

    def truncate(self):
        self.lsn += 10
        self.rows.clear()
        self._append((0, None), "t", None, None)

    def snapshot(self):
        """Read all rows again, as a connector without offsets does."""
        self.lsn += 10
        last = len(self.rows) - 1
        for at, row in enumerate(list(self.rows.values())):
            place = "first" if at == 0 else "true"
            self._change("r", row, after=row, snapshot="last" if at == last else place)

    def read_incrementally(self, id):
        """Read a row as an incremental snapshot does, whose rows have no place of their own."""
        self.lsn += 10
        self.commit = self.lsn
        self._change("r", self.rows[id], after=self.rows[id], snapshot="incremental")

    def add_column(self, name, type_, empty=None):
        self.columns[name] = (type_, empty)
        for row in self.rows.values():
            row[name] = empty

    def drop_column(self, name):
        del self.columns[name]
        for row in self.rows.values():
            del row[name]

    def value_schema(self):
        fields = [(name, type_) for name, (type_, _) in self.columns.items()]
        if self.flattened:
            fields += [
                ("__op", "string"), ("__lsn", ["null", "long"]),
                ("__source_ts_ms", ["null", "long"]), ("__source_snapshot", ["null", "string"]),
                ("__deleted", ["null", "string"]), ("__source_sequence", ["null", "string"]),
            ]  # fmt: skip
        row = {"namespace": "pagila.film", **make_record(*fields, name="Value")}
        if self.flattened:
            return row
        source = make_record(
            ("ts_ms", "long"), ("snapshot", ["null", "string"]), ("db", "string"),
            ("schema", "string"), ("table", "string"), ("lsn", ["null", "long"]),
            ("sequence", ["null", "string"]), name="Source",
        )  # fmt: skip
        envelope = make_record(
            ("before", ["null", row]), ("after", ["null", "Value"]), ("source", source),
            ("op", "string"), ("ts_ms", ["null", "long"]), name="Envelope",
        )  # fmt: skip
        return {"namespace": "pagila.film", **envelope}

    def key_schema(self):
        return make_record(*((each, self.columns[each][0]) for each in self.key), name="Key")

    def _read_key(self, row):
        return {each: row[each] for each in self.key} or None

    def _old(self, row):
        if self.full:
            return row
        empty = {name: empty for name, (_, empty) in self.columns.items()}
        return {**empty, "id": row["id"]}

    def _change(self, op, row, before=None, after=None, *, snapshot="false"):
        partition = zlib.crc32(str(row["id"]).encode()) % self.partitions
        self._append((partition, self._read_key(row)), op, before, after, snapshot)
        if op == "d":
            self._send((partition, self._read_key(row)), None, None)

    def _append(self, place, op, before, after, snapshot="false"):
        ts = self.clock_ms + self.lsn
        sequence = json.dumps([self.commit and str(self.commit), str(self.lsn)])
        if self.flattened:
            value = {
                **(before if op == "d" else after), "__op": op, "__lsn": self.lsn,
                "__source_ts_ms": ts, "__source_snapshot": snapshot, "__source_sequence": sequence,
                "__deleted": str(op == "d").lower(),
            }  # fmt: skip
        else:
            table = {"db": "pagila", "schema": "public", "table": "film"}
            source = {"ts_ms": ts, "snapshot": snapshot, "sequence": sequence, **table}
            source["lsn"] = None if snapshot == "incremental" else self.lsn
            value = {"before": before, "after": after, "source": source, "op": op, "ts_ms": ts}
        self._send(place, self.value_schema(), value)

    def _send(self, place, schema, value):
        partition, key = place
        record = partition, self.key_schema(), key, schema, value, self.sent
        self.log.append(deepcopy(record))
        self.sent += 1


def change_at_random(film, random, changes):
    """Make changes of all kinds."""
    for _ in range(changes):
        ids = sorted(film.rows)
        kinds = ["insert", *(["update"] * 5 + ["delete", "delete", "move"] if ids else [])]
        if random.random() < 0.1:
            # The transform has no form for a truncation.
            kinds = ["snapshot"] if film.flattened else ["snapshot", "truncate"]
        kind = random.choice(kinds)
        free = random.choice([at for at in range(2 * len(ids) + 3) if at not in film.rows])
        match kind:
            case "insert":
                film.insert(id=free, **_pick_values(random, film))
            case "update":
                film.update(random.choice(ids), **_pick_values(random, film))
            case "delete":
                film.delete(random.choice(ids))
            case "move":
                film.update(random.choice(ids), id=free, plot=_pick_text(random), tags=None)
            case "truncate":
                film.truncate()
            case "snapshot":
                film.snapshot()


def _pick_values(random, film):
    made = {
        "title": random.choice("abc"), "plot": _pick_text(random),
        "rate": random.choice([1.5, None]), "tags": random.choice([None, [], [LONG, "x"]]),
    }  # fmt: skip
    named = [name for name in made if name in film.columns]
    return {name: made[name] for name in random.sample(named, random.randrange(len(named)))}


def _pick_text(random):
    return random.choice([None, "", "short", f"{random.randrange(9)}{LONG}"])


class CdcJob:
    """A job that takes records of one topic, and can be started again."""

    def __init__(self, spark, folder, table, outputs=None, registry=None):
        self.spark, self.folder, self.table = spark, folder, table
        # As Apicurio.
        self.registry = registry or MemoryRegistry(compatibility=Compatibility.NONE)
        (folder / "errors").mkdir()
        self.errors = FileErrors(folder / "errors")
        self.outputs = outputs or (lambda: [CurrentTable(table)])
        self.lease = NoLease()
        self.offsets, self.number = {}, 0
        self.restart()

    def restart(self):
        registries = Registries([CachedRegistry(self.registry)])
        sink = ChangeSink(
            "pagila.public.film",
            self.outputs(),
            LogStates(self.spark, str(self.folder / "cdc")),
            SchemaReaders(registries),
            UNAVAILABLE,
            lease=self.lease,
        )
        ledger = Ledger(self.spark, str(self.folder / "schemas"))
        self.batches = open_batches(registries, ledger, [sink], self.errors)

    def place(self, log):
        """Give records their offsets, as a broker does."""
        placed = []
        for partition, *record in log:
            offset = self.offsets.get(partition, 0)
            self.offsets[partition] = offset + 1
            placed.append((partition, offset, *record))
        return placed

    def take(self, placed, number=None, offsets=""):
        """Take a batch of records, with its offsets as the checkpoint has them."""
        if number is None:
            number, self.number = self.number, self.number + 1
        rows = [
            (self.frame("key", *key), self.frame("value", *value), "pagila.public.film",
             partition, offset, _NOON + timedelta(milliseconds=sent),
             self.head(key[0], value[0]))
            for partition, offset, *record, sent in placed
            for key, value in [(record[:2], record[2:])]
        ]  # fmt: skip
        frame = self.spark.createDataFrame(rows, KAFKA)
        return self.batches.write_batch(frame, BatchId("query", number, offsets))

    def frame(self, kind, schema, value):
        """Encode a key or a value by its registered schema."""
        if value is None:
            return None
        version = self.registry.register(f"film-{kind}", schema).version
        return encode_frame(version.key, encode(value, version.schema))

    def head(self, key, value):
        """Return the headers of a record, by the schemas of its key and its value."""

    def rows(self):
        """The rows of the current table, without positions."""
        found = self.spark.table(f"lake.{self.table}").drop(
            "_lsn", "_offset", "_changed_at", "_older_lsn"
        )
        rows = [row.asDict(recursive=True) for row in found.collect()]
        assert len({row["id"] for row in rows}) == len(rows)
        return {row["id"]: row for row in rows}


def _is_long(value):
    return value is not None and len(str(value)) >= len(LONG)
