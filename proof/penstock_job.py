"""Penstock's Spark job `consume`, from topics to Iceberg tables: a query for each change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proof.system import WorkerSystem
from systems.accounts import environ_of, make_errors
from systems.place import PYTHON
from systems.readers import DynamoLetters, IcebergTables
from systems.spark import job_settings
from systems.worker import Worker

_TABLE = "proof-job-errors"


@dataclass(slots=True)
class PenstockJob(WorkerSystem):
    """The queries, in one Spark session of a process of its own."""

    tables: IcebergTables = field(init=False)
    letters: DynamoLetters = field(init=False)

    def __post_init__(self) -> None:
        folder = self.place.new_folder("penstock-job")
        self.tables = IcebergTables(folder / "lake/proof")
        self.letters = DynamoLetters(self.place.aws, _TABLE)
        environ: Mapping[str, str] = {
            **environ_of(self.place.aws),
            **job_settings(self.place, make_errors(self.place.aws, _TABLE)),
            "PENSTOCK_LEASE_SECONDS": "120",
            "PENSTOCK_HEARTBEAT_SECONDS": "30",
            "PROOF_FOLDER": str(folder),
        }
        self._worker = Worker([*PYTHON, "proof.spark_worker"], folder / "log", environ)

    def describe_trouble(self, change: str) -> str:
        """Return the reason that its first dead letter gives."""
        return self.letters.describe(change)
