"""The story: send events, wait for schemas and rows, and check that they are right."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from demo.accounts import ROOT, Account
from demo.diagnose import choose_lines, diagnose_job, diagnose_rows
from demo.lake import find_wrong_lake_rows, read_lake, run_jobs, source_of
from demo.rows import Row, Sent, find_wrong_rows, read_rows, show_row
from demo.screen import StepFailedError, Steps, print_table
from penstock.schemas import diff_schemas, load_schema

EVENTS = ("empty", "add_temperature", "empty", "nested")
CONSUMER_NAME = "analytics"
_ROW_SECONDS = 60  # a new mapping may still be joining its consumer group
_JOB_SECONDS = 300  # a driver starts within ten, on a busy machine within sixty
_LAKE_COLUMNS = ("device", "_offset", "temperature", "latitude", "longitude", "_schema_version")
_AWS = Path(sys.executable).with_name("aws")


@dataclass(frozen=True, slots=True)
class StoryResult:
    """The result: events that were sent, the table before and after, the versions, the lake."""

    sent: tuple[Sent, ...]
    before: dict[str, Row]
    rows: dict[str, Row]
    versions: tuple[str, ...]
    lake: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """Both accounts after their apply, with the outputs of their roots."""

    producer: Account
    consumer: Account
    produced: dict[str, Any]
    consumed: dict[str, Any]
    row_seconds: float = _ROW_SECONDS
    job_seconds: float = _JOB_SECONDS

    @property
    def table(self) -> str:
        """Return the name of the table that the consumer function writes."""
        return str(self.consumed["functions"]["consumer"]["table"])

    def run(self, steps: Steps) -> StoryResult:
        """Send the events, wait for their rows, check these, and print all of it.

        Raises:
            StepFailedError: something is wrong, and where.
        """
        before = read_rows(self.consumer, self.table)
        with steps.step(f"invoke the producer function {len(EVENTS)} times"):
            sent = tuple(self.send(name) for name in EVENTS)
        print_table([one.describe() for one in sent], ["event", "version", "new", "record"])
        with steps.step("wait for the rows on the other side, and check them"):
            rows = self.await_rows(sent)
            if wrong := find_wrong_rows(sent, before, rows):
                where = f"{self.consumer.where}, table {self.table}"
                raise StepFailedError(where, "the table has wrong rows", wrong)
        new = [show_row(rows[one.source]) for one in sent]
        print_table(new, ["deviceId", "timestamp", "temperature", "location", "_schema"])
        print(f"      {len(rows)} rows, {len(before)} of them from before")
        with steps.step("read the versions of the schema"):
            versions = tuple(self.describe_versions(sent[0].answer["schema"]["name"]))
        for line in versions:
            print(f"      {line}")
        with steps.step("run the Spark job until it has read all there is"):
            (run,) = self.run_jobs("consume")
        print(f"      its log: .venv/bin/python -m localcloud logs {run} --once")
        with steps.step("query the lake with Athena, and check both"):
            lake = self.check_lake(sent, rows)
        ours = {one.source for one in sent}
        print_table([row for row in lake if source_of(row) in ours], _LAKE_COLUMNS)
        print(f"      {len(lake)} rows in {self.consumed['lake']['database']}")
        return StoryResult(sent, before, rows, versions, tuple(lake))

    def run_jobs(self, *names: str) -> list[str]:
        """Run Spark jobs of the consumer account in parallel, and return the ids of their runs.

        Raises:
            StepFailedError: a job did not succeed, and why.
        """
        runs = run_jobs(self.consumer, self.consumed, names, self.job_seconds)
        for run in runs:
            if run["state"] != "SUCCESS":
                contract = self.produced["contracts"][CONSUMER_NAME]
                raise diagnose_job(self.producer, self.consumer, contract, run)
        return [str(run["jobRunId"]) for run in runs]

    def check_lake(self, sent: Sequence[Sent], rows: dict[str, Row]) -> list[Row]:
        """Compare the lake with the events sent and with the table's rows.

        The job has written the table's rows again, which must not have changed them.

        Raises:
            StepFailedError: a row is wrong, missing or too many.
        """
        if wrong := find_wrong_rows([], rows, read_rows(self.consumer, self.table)):
            where = f"{self.consumer.where}, table {self.table}"
            raise StepFailedError(where, "the Spark job changed rows", wrong)
        lake = read_lake(self.consumer, self.consumed["lake"])
        if wrong := find_wrong_lake_rows(sent, rows, lake):
            where = f"{self.consumer.where}, lake {self.consumed['lake']['database']}"
            raise StepFailedError(where, "the lake has wrong rows", wrong)
        return lake

    def send(self, name: str) -> Sent:
        """Invoke the producer function with one of its sample events, by the command of the README.

        Raises:
            StepFailedError: the function rejected the event, or failed.
        """
        function = self.produced["functions"]["producer"]
        payload = ROOT / "lambdas" / "producer" / "events" / f"{name}.json"
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            words = ["lambda", "invoke", "--function-name", function]
            done = subprocess.run(
                [_AWS, *words, "--payload", f"fileb://{payload}", out.name],
                env=self.producer.environ,
                capture_output=True,
                text=True,
                check=False,
            )
            answer = Path(out.name).read_text()
        if done.returncode or "FunctionError" in done.stdout:
            said = json.loads(answer)["errorMessage"] if answer else done.stderr.strip()
            why = f"it rejected {name}.json: {said}"
            where = f"{self.producer.where}, function {function}"
            raise StepFailedError(where, why, choose_lines(self.producer.local.read_log(function)))
        # Exact, like the numbers of DynamoDB.
        event = json.loads(payload.read_text(), parse_float=Decimal)
        return Sent(event, json.loads(answer))

    def await_rows(self, sent: Sequence[Sent]) -> dict[str, Row]:
        """Wait until each event has its row.

        Raises:
            StepFailedError: a row is missing, and why.
        """
        deadline = time.monotonic() + self.row_seconds
        while True:
            rows = read_rows(self.consumer, self.table)
            missing = [one.source for one in sent if one.source not in rows]
            if not missing:
                return rows
            if time.monotonic() > deadline:
                contract = self.produced["contracts"][CONSUMER_NAME]
                made = self.consumed["functions"]["consumer"]
                found = diagnose_rows(self.producer, self.consumer, contract, made)
                why = f"no row for {', '.join(missing)} within {self.row_seconds} s: {found.why}"
                raise StepFailedError(found.where, why, found.lines)
            time.sleep(0.2)

    def describe_versions(self, name: str) -> Iterator[str]:
        """Yield, for each version of a schema, the changes from the version before."""
        registry = self.produced["contracts"][CONSUMER_NAME]["registry"]["name"]
        glue = self.producer.client("glue")
        schema_id = {"RegistryName": registry, "SchemaName": name}
        listed = glue.get_paginator("list_schema_versions").paginate(SchemaId=schema_id)
        numbers = sorted(one["VersionNumber"] for page in listed for one in page["Schemas"])
        previous = None
        for number in numbers:
            asked = {"SchemaId": schema_id, "SchemaVersionNumber": {"VersionNumber": number}}
            schema = load_schema(glue.get_schema_version(**asked)["SchemaDefinition"])
            added = f"{diff_schemas(previous, schema)}".splitlines() if previous else ["the first"]
            yield f"v{number}  {added[0]}"
            yield from (f"    {line}" for line in added[1:])
            previous = schema
