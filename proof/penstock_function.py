"""Penstock's consumer function, from topics to DynamoDB: a function for each change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from proof.system import WorkerSystem
from systems.accounts import environ_of, make_errors, make_rows
from systems.place import PYTHON
from systems.readers import DynamoLetters, DynamoTables
from systems.worker import Worker

_TABLE: Final = "proof-function-errors"
PREFIX: Final = "proof-"


@dataclass(slots=True)
class PenstockFunction(WorkerSystem):
    """The functions, in a process that polls as event source mappings do: none ends by itself."""

    tables: DynamoTables = field(init=False)
    letters: DynamoLetters = field(init=False)

    def __post_init__(self) -> None:
        folder = self.place.new_folder("penstock-function")
        self.tables = DynamoTables(self.place.aws, PREFIX)
        self.letters = DynamoLetters(self.place.aws, _TABLE)
        environ = {
            **environ_of(self.place.aws),
            **make_errors(self.place.aws, _TABLE),
            "PENSTOCK_REGISTRY": f"apicurio+http://{self.place.registry}",
            "PENSTOCK_KEY": "id",
            "PENSTOCK_SORT_NAME": "rowId",
            "PENSTOCK_EVENT_TIME": "none",
            "PROOF_SERVERS": self.place.servers,
        }
        self._worker = Worker([*PYTHON, "proof.function_worker"], folder / "log", environ)

    def start(self, changes: Sequence[str]) -> None:
        """Start a function with its mapping for each change."""
        for each in changes:
            make_rows(self.place.aws, f"{PREFIX}{each}")
            self.restart(each)

    def restart(self, change: str) -> None:
        """Start a function and its mapping."""
        self._worker.ask("start", change=change, table=f"{PREFIX}{change}")

    def describe_trouble(self, change: str) -> str:
        """Return the reason that its first dead letter gives."""
        return self.letters.describe(change)
