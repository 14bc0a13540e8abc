"""A Prometheus on this machine, with the names and the way out of an instance in a VPC."""

from __future__ import annotations

import json
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.accounts import MACHINE, ROOT
from demo.screen import StepFailedError

FILES = ROOT / "infra" / "prometheus"
_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Prometheus:
    """Its path, the folder of its files, and its port on 127.0.0.1."""

    program: str
    folder: Path
    port: int

    def command(self) -> list[str]:
        """Return the command that starts it."""
        return [
            self.program,
            f"--config.file={self.folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--log.level=warn",
        ]

    def write_files(self, brokers: Sequence[str], lag: str) -> None:
        """Write its configuration of infra/prometheus, with a scrape each two seconds."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        shutil.copy(FILES / "rules.yml", self.folder)
        text = (FILES / "prometheus.yml").read_text()
        text = text.replace("scrape_interval: 15s", "scrape_interval: 2s")
        (self.folder / "prometheus.yml").write_text(text.replace("127.0.0.1:9308", lag))
        found = [
            {"labels": {"job": job}, "targets": [f"{name}:{port}" for name in brokers]}
            for job, port in (("jmx", 11001), ("node", 11002))
        ]
        (self.folder / "brokers.json").write_text(json.dumps(found))

    def query(self, text: str) -> list[dict[str, Any]]:
        """Return the series of an instant query."""
        return self._get("query", query=text)

    def query_range(self, text: str, start: float, end: float) -> list[dict[str, Any]]:
        """Return the series of a query over a time, with a point each two seconds."""
        return self._get("query_range", query=text, start=start, end=end, step=2)

    def _get(self, what: str, **words: Any) -> list[dict[str, Any]]:
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
                found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            why = f"Prometheus refuses {words['query']}: {json.load(error)['error']}"
            raise StepFailedError(MACHINE, why) from error
        return found


def dashboard_queries() -> list[tuple[str, str]]:
    """Return the queries of the dashboard of Grafana, with the titles of their panels."""
    panels = json.loads((FILES / "grafana.json").read_text())["panels"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel["targets"]]
