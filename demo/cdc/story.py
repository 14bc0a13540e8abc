"""The story of change data capture: a snapshot, changes, and their envelopes."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from demo.cdc.account import FilmAccount
from demo.cdc.films import FIRST
from demo.cdc.lake import Lake
from demo.screen import StepFailedError, Steps, print_table
from localcloud.testing import wait_until

_TOPICS = r"films\.public\..*"
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
            self._follow("envelopes", _TOPICS, raw_path=self._path("raw"))
        self._show_envelopes()

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
        return sorted(each["id"] for each in found if each["id"].startswith("films.public."))

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


def _text(value: Any) -> str:
    return json.dumps(value, default=str)


def _expect(what: str, found: list[Any], expected: list[Any]) -> None:
    if found != expected:
        raise StepFailedError("the lake", f"{what} is {found}, expected {expected}")
