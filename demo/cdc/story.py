"""The story of change data capture: a snapshot, two sets of changes, and tables that follow."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from demo.cdc.account import FilmAccount
from demo.cdc.films import FIRST, SECOND, TABLES
from demo.cdc.lake import Lake
from demo.screen import StepFailedError, Steps, print_table
from localcloud.testing import wait_until

_TOPICS: Final = r"films\.public\..*"
_ENVELOPES: Final = """
SELECT op, after.film_id, after.release_year, after.rental_rate, source.lsn
FROM film_raw WHERE after.film_id = 1 ORDER BY source.lsn
"""
_DELETED: Final = """
SELECT op, before.actor_id, before.film_id, after, source.lsn
FROM film_actor_raw WHERE op = 'd' AND before.film_id = 375
"""
_SHOWN: Final = "film_id, title, release_year, rental_rate, rental_duration"
_VERSIONS: Final = f"""
SELECT {_SHOWN}, date_format(timestamp_millis(__source_ts_ms), 'HH:mm:ss') AS timestamp, __deleted
FROM film WHERE film_id <= 5 ORDER BY film_id, __lsn
"""
_LATEST: Final = f"""
SELECT {_SHOWN} FROM (
  SELECT *, row_number() OVER (PARTITION BY film_id ORDER BY __lsn DESC) AS row_num FROM film)
WHERE row_num = 1 AND __deleted != 'true' AND film_id <= 5 ORDER BY film_id
"""
_REFINE: Final = f"SELECT {_SHOWN}, _changed_at, rating FROM lake.films.films_public_film"
_REFINED: Final = f"""
SELECT {_SHOWN}, rating FROM lake.films.film_refined WHERE film_id <= 5 ORDER BY film_id
"""
_Row = dict[str, Any]


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
        with steps.step("wait for the snapshot: six topics, 12 artifacts in Apicurio"):
            wait_until("there are 12 artifacts", lambda: len(self._count_versions()) == 12)
        with steps.step("change some rows, and write the envelopes as they are"):
            self._change(FIRST)
            self.lake.run_job(_TOPICS, raw_path=self._path("raw"))
        self._show_envelopes()
        with steps.step("terraform apply: flattened records, after a new snapshot"):
            self.account.apply(prepared=True, flatten=True)
            wait_until("each value has two versions", self._are_flattened)
        self._show_artifacts()
        with steps.step("change more rows, and write files and tables"):
            self._change(SECOND)
            self.lake.run_job(
                _TOPICS,
                flattened_path=self._path("flattened"),
                current_table="films.{table}",
                refined_table="films.film_refined",
                refined_query=_REFINE,
                refined_by="rating",
            )
        self._show_tables()
        with steps.step("compare the current tables with those of PostgreSQL"):
            compared = [self._compare(table) for table in TABLES]
        print_table(compared, list(compared[0]))
        _expect("rows that differ", sum(each["differ"] for each in compared), 0)

    def _change(self, sql: str) -> None:
        """Change the database, and wait until the changes are in Kafka."""
        self.account.query(sql)
        position = self.account.query("SELECT pg_current_wal_lsn()")
        is_read = f"SELECT confirmed_flush_lsn >= '{position}' FROM pg_replication_slots"
        wait_until("the log is read", lambda: self.account.query(is_read) == "t")

    def _path(self, name: str) -> str:
        return str(self.lake.folder / name)

    def _count_versions(self) -> dict[str, int]:
        """Return the number of versions of each artifact."""
        found = self._ask_registry("search/artifacts?limit=100")["artifacts"]
        names = sorted(each["id"] for each in found if each["id"].startswith("films.public."))
        path = "groups/default/artifacts/{}/versions"
        return {each: self._ask_registry(path.format(each))["count"] for each in names}

    def _are_flattened(self) -> bool:
        versions = self._count_versions()
        return all(versions[f"films.public.{table}-value"] == 2 for table in TABLES)

    def _ask_registry(self, path: str) -> Any:
        url = f"{self.lake.registry}/apis/registry/v2/{path}"
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own registry
            return json.load(answer)

    def _show_artifacts(self) -> None:
        versions = self._count_versions()
        _show([{"artifact": name, "versions": count} for name, count in versions.items()])

    def _show_envelopes(self) -> None:
        for table in ("film", "film_actor"):
            self.lake.name_files(f"{table}_raw", "raw", "topics", f"films.public.{table}")
        films = _show(self.lake.query(_ENVELOPES))
        _expect("film 1", [(f["op"], f["release_year"]) for f in films], [("r", 2006), ("u", 2021)])
        deleted = _show(self.lake.query(_DELETED))
        _expect("film_actor 375", [row["after"] for row in deleted], [None])

    def _show_tables(self) -> None:
        self.lake.name_files("film", "flattened", "topics", "films.public.film")
        versions = _show(self.lake.query(_VERSIONS))
        _expect("rows of five films", len(versions), 10)
        for sql in (_LATEST, _REFINED):
            rows = _show(self.lake.query(sql))
            _expect("the latest films", [row["film_id"] for row in rows], [1, 2, 3, 4])

    def _compare(self, table: str) -> _Row:
        lines = self.account.query(f"SELECT row_to_json(t) FROM {table} t").splitlines()
        wanted = _count(json.loads(line, parse_float=str) for line in lines)
        found = _count(self.lake.query(f"SELECT * FROM lake.films.films_public_{table}"))
        differ = (wanted - found).total() + (found - wanted).total()
        return {"table": table, "rows": found.total(), "differ": differ}


def _count(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count rows by their text, without the columns that the job adds."""
    return Counter(
        str(sorted((name, _read(name, row[name])) for name in row if not name.startswith("_")))
        for row in rows
    )


def _read(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value).timestamp() if name == "last_update" else value


def _show(rows: list[_Row]) -> list[_Row]:
    print_table(rows, list(rows[0]) if rows else [])
    print()
    return rows


def _expect(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise StepFailedError("the lake", f"{what}: found {found}, expected {expected}")
