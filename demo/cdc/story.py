"""The story of change data capture: a snapshot, two sets of changes, and tables that follow."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from demo.cdc.account import FilmAccount
from demo.cdc.films import FIRST, SECOND, TABLES
from demo.cdc.lake import Lake
from demo.screen import StepFailedError, Steps, print_table
from localcloud.testing import wait_until

# As infra/extensions/cdc with flatten = true.
_FLATTENING = {
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.add.fields": "op,db,schema,table,lsn,source.ts_ms,source.snapshot",
    "transforms.unwrap.delete.tombstone.handling.mode": "rewrite-with-tombstone",
    # Topics of their own, since a topic has one form of records, and so a snapshot of their own.
    "topic.prefix": "films.flat",
}
_SHOWN = "film_id, title, release_year, rental_rate, rental_duration"
_ALL = f"""
SELECT {_SHOWN}, date_format(timestamp_millis(__source_ts_ms), 'HH:mm:ss') AS at, __op, __deleted
FROM film WHERE film_id <= 5 ORDER BY film_id, __lsn, __source_ts_ms
"""
_LATEST = f"""
SELECT {_SHOWN} FROM (
  SELECT *, row_number() OVER (PARTITION BY film_id ORDER BY __lsn DESC) AS newest FROM film)
WHERE newest = 1 AND __deleted != 'true' AND film_id <= 5 ORDER BY film_id
"""
_REFINED = f"SELECT {_SHOWN}, rating FROM lake.films.films_flat_public_film"
_SHOW_REFINED = "SELECT * FROM lake.films.film_refined WHERE film_id <= 5 ORDER BY film_id"
_ENVELOPES, _FLAT = r"films\.public\..*", r"films\.flat\.public\..*"
_MARK = "UPDATE language SET name = '{}' WHERE language_id = 3"


@dataclass(frozen=True, slots=True)
class CdcStory:
    """An account whose database is captured, and a lake."""

    account: FilmAccount
    lake: Lake

    def tell(self, steps: Steps) -> None:
        """Change the database, and show what becomes of the changes.

        Raises:
            StepFailedError: a table is not as it should be.
        """
        with steps.step("the snapshot: six topics, 12 artifacts in Apicurio"):
            wait_until("there are 12 artifacts", lambda: len(self._list_artifacts()) == 12)
        print_table([{"artifact": name} for name in self._list_artifacts()], ["artifact"])
        with steps.step("change some rows, and write the envelopes as they are"):
            self._change(FIRST, "first")
            self._follow("envelopes", _ENVELOPES, raw_path=self._path("raw"))
        self._show_envelopes()
        with steps.step("flatten the records, into topics of their own"):
            self.account.change_connector(_FLATTENING)
            wait_until("there are 24 artifacts", lambda: len(self._list_artifacts()) == 24)
        with steps.step("change more rows, and write three kinds of tables"):
            self._change(SECOND, "second")
            self._follow(
                "tables",
                _FLAT,
                flattened_path=self._path("flattened"),
                current_table="films.{table}",
                refined_table="films.film_refined",
                refined_query=_REFINED,
                refined_by="rating",
            )
            self.lake.name_files("film", "flattened", "topics", "films.flat.public.film")
        self._show_tables()
        with steps.step("compare six tables of the lake with PostgreSQL"):
            for table in TABLES:
                self._compare(table)

    def _change(self, sql: str, mark: str) -> None:
        """Run changes, and then one that is read last."""
        self.account.query(f"{sql}; {_MARK.format(mark)}")

    def _follow(self, name: str, topics: str, **outputs: Any) -> None:
        """Run the job until it has read the newest mark, which is in Kafka within a second."""
        wait_until("the slot is read to its end", self._is_captured)
        self.lake.run_job(name, topics, **outputs)

    def _is_captured(self) -> bool:
        """Return whether the connector has confirmed what was in the log a moment ago."""
        position = self.account.query("SELECT pg_current_wal_lsn()")
        behind = f"SELECT confirmed_flush_lsn >= '{position}' FROM pg_replication_slots"
        return bool(wait_until("the slot moves on", lambda: self.account.query(behind) == "t"))

    def _path(self, name: str) -> str:
        return str(self.lake.folder / name)

    def _list_artifacts(self) -> list[str]:
        found = self._ask_registry("search/artifacts?limit=100")["artifacts"]
        return sorted(
            each["id"]
            for each in found
            if each["id"].startswith(("films.public.", "films.flat.public."))
        )

    def _ask_registry(self, path: str) -> Any:
        url = f"{self.lake.registry}/apis/registry/v2/{path}"
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own registry
            return json.load(answer)

    def _show_envelopes(self) -> None:
        self.lake.name_files("film_raw", "raw", "topics", "films.public.film")
        self.lake.name_files("film_actor_raw", "raw", "topics", "films.public.film_actor")
        films = self.lake.query(
            "SELECT op, after.film_id, after.release_year, after.rental_rate, source.lsn"
            " FROM film_raw WHERE after.film_id = 1 ORDER BY source.ts_ms"
        )
        print_table(films, list(films[0]))
        _expect("film 1", [(f["op"], f["release_year"]) for f in films], [("r", 2006), ("u", 2021)])
        deleted = self.lake.query(
            "SELECT op, before, after FROM film_actor_raw WHERE op = 'd' AND before.film_id = 375"
        )
        print_table([{k: _text(v) for k, v in row.items()} for row in deleted], list(deleted[0]))
        _expect("film_actor 375", [row["after"] for row in deleted], [None])

    def _show_tables(self) -> None:
        for sql in (_ALL, _LATEST, _SHOW_REFINED):
            rows = self.lake.query(sql)
            print_table(rows, list(rows[0]))
            print()
        latest = [row["film_id"] for row in self.lake.query(_LATEST)]
        _expect("the latest films", latest, [1, 2, 3, 4])

    def _compare(self, table: str) -> None:
        columns = self.account.query(
            "SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM"
            f" information_schema.columns WHERE table_name = '{table}' AND data_type IN"
            " ('integer', 'text')"
        )
        rows = self.account.query(f"SELECT row_to_json(t) FROM (SELECT {columns} FROM {table}) t")
        wanted = sorted(map(_text, map(json.loads, rows.splitlines())))
        found = self.lake.query(f"SELECT {columns} FROM lake.films.films_flat_public_{table}")
        _expect(table, sorted(map(_text, found)), wanted)


def _text(value: Any) -> str:
    return json.dumps(value, default=str)


def _expect(what: str, found: list[Any], expected: list[Any]) -> None:
    if found != expected:
        raise StepFailedError("the lake", f"{what} is {found}, expected {expected}")
