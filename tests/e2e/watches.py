"""An alarm on what is open in an account, and the `penstock` command there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from localcloud.testing import invoke
from tests.e2e.accounts import Accounts, Root

_PENSTOCK = Path(sys.executable).with_name("penstock")
_PERIOD_MINUTES = 5


@dataclass(frozen=True)
class Watch:
    """An alarm of a root, by its whole name, and the prefix of the root's names."""

    accounts: Accounts
    root: Root
    prefix: str
    alarm: str

    def count(self) -> str:
        """Let the status function count, and a period pass; return the alarm's state."""
        client = partial(self.accounts.client, account=self.root.id)
        answer, error = invoke(client, f"{self.prefix}-status", {})
        assert error is None, answer
        return self.wait()

    def wait(self) -> str:
        """Let a period pass; return the alarm's state."""
        self.root.local.ask("pass-minutes", minutes=_PERIOD_MINUTES)
        named = {"AlarmNames": [f"{self.prefix}-{self.alarm}"]}
        found = self.root.client("cloudwatch").describe_alarms(**named)
        (alarm,) = found["MetricAlarms"]
        return str(alarm["StateValue"])

    def read_open(self, table: str) -> int:
        """Return the number of open dead letters of a table, as `penstock status` counts it."""
        told = json.loads(self.penstock("status", "--output", "json"))
        (count,) = (each["open"] for each in told["deadLetterTables"] if each["table"] == table)
        return int(count)

    def penstock(self, *words: str, code: int = 0) -> str:
        """Run a command with the root's only or first profile; return what it printed."""
        profile = next(iter(self.root.outputs()["profiles"].values()))
        done = subprocess.run(
            [_PENSTOCK, *words],
            cwd=self.root.folder,  # not the clone, where a demo may have left its profiles
            env=os.environ | self.root.environ | profile,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout
