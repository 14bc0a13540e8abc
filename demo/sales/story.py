"""The story of sales: batch, windows, and Avro through Apicurio while a schema gains a column."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.screen import StepFailedError, Steps, print_table
from jobs.sales import main as sales
from jobs.sales.artifacts import PREFIX, SALES, SUMMARY
from jobs.sales.enrichment import ArtifactSettings
from jobs.sales.generated import ALL_SALES, FIRST_SALES

_SEED, _REST = "sales_seed.csv", "sales_incremental.csv"
_NOON = "2026-01-05T12:00:00+00:00"
_LATER = "2026-01-05T12:02:05+00:00"  # after the first 250, two in a second
_SHOWN = 5
_Row = dict[str, str]
_Printed = tuple[list[_Row], list[Any]]  # a table, and JSON objects


@dataclass(frozen=True, slots=True)
class SalesStory:
    """A broker and a registry, and a folder for files and checkpoints."""

    servers: str
    registry: str
    folder: Path

    def tell(self, steps: Steps) -> None:
        """Run the commands of the sales job one after another.

        Raises:
            StepFailedError: a total is wrong, and where.
        """
        with steps.step("generate 2,050 sales, and write the first 250"):
            self.run("generate", "--bucket", self.folder.as_uri())
            self.call("seed", "--topic", "sales", "--sales-file", _SEED, "--since", _NOON)
        with steps.step("sum them up by country"):
            table, _ = self.call("summarize", "--topics", "sales")
        show(table)
        with steps.step("write the others, and follow windows by region"):
            self.produce("produce", "sales", _REST, _NOON)
            table, _ = self.follow("windows", "sales", "--by", "region", "--rows", "1000")
        show(table)
        avro, summary = f"{PREFIX}{SALES}", f"{PREFIX}{SUMMARY}"
        with steps.step("register six Avro artifacts in Apicurio"):
            _, artifacts = self.run("register", "--registry-url", self.registry)
        print_table(
            [{"artifact": each["artifact"], **each["created"]} for each in artifacts],
            ["artifact", "id", "version", "rule"],
        )
        with steps.step("write sales in Avro, and enrich them with regions"):
            self.produce("produce-avro", avro, _SEED, _NOON)
            self.follow("enrich", avro, "--output-topic", summary)
        with steps.step("add a column to the schema, and go on"):
            self.add_column(f"{avro}-value", "channel")
            self.produce("produce-avro", avro, _REST, _LATER)
            _, reports = self.follow("enrich", avro, "--output-topic", summary)
        with steps.step("read the newest total of each region and window"):
            table, _ = self.call("results-avro", "--topics", summary, "--rows", "1000")
        show(table)
        self.check(table, reports)

    def produce(self, command: str, topic: str, file: str, since: str) -> None:
        """Write a file to a topic, two records a second by their timestamps."""
        self.call(command, "--topic", topic, "--sales-file", file, "--since", since)

    def follow(self, command: str, topic: str, *flags: str) -> _Printed:
        """Run a streaming command to the end of its topic."""
        place = f"{self.folder.as_uri()}/checkpoints/{command}"
        more = ("--checkpoint", place, "--trigger", "available-now", *flags)
        return self.call(command, "--topics", topic, *more)

    def call(self, command: str, *flags: str) -> _Printed:
        """Run a command that uses the broker; those in Avro are told of the registry too."""
        in_avro = command == "enrich" or command.endswith("-avro")
        registry = ("--registry-url", self.registry) if in_avro else ()
        login = ("--bootstrap-servers", self.servers, "--security", "plaintext")
        return self.run(command, *login, "--bucket", self.folder.as_uri(), *registry, *flags)

    def run(self, command: str, *flags: str) -> _Printed:
        """Run a command, and return what it printed."""
        with redirect_stdout(io.StringIO()) as printed:
            sales.main([command, *flags])
        return read_printed(printed.getvalue())

    def add_column(self, artifact: str, name: str) -> None:
        """Register a new version of an artifact, with one more optional field."""
        registry = ArtifactSettings(self.registry).load()
        newest: Any = registry.versions(artifact)[-1].schema
        field = {"name": name, "type": ["null", "string"], "default": None}
        registry.register(artifact, newest | {"fields": [*newest["fields"], field]})

    def check(self, table: list[_Row], reports: list[Any]) -> None:
        """Compare what came out with what was sent: each sale is in two windows.

        Raises:
            StepFailedError: they differ, or the stream has read records twice.
        """
        orders, read = (sum(int(each[name]) for each in rows) for rows, name in (
            (table, "orders"), (reports, "in"),
        ))  # fmt: skip
        if (orders, read) != (2 * ALL_SALES, ALL_SALES - FIRST_SALES):
            why = f"found {orders} orders in windows, and {read} sales read after the change"
            raise StepFailedError("the enrichment stream", why)


def read_printed(text: str) -> _Printed:
    """Return the rows of the last table that a command printed, and its JSON objects."""
    lines = text.splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    rows = [dict(zip(cells[0], each, strict=True)) for each in cells[1:]] if cells else []
    decoder, objects, at = json.JSONDecoder(), [], 0
    while (at := f"\n{text}".find("\n{", at)) >= 0:
        found, at = decoder.raw_decode(text, at)
        objects.append(found)
    return rows, objects


def show(table: Sequence[_Row]) -> None:
    """Print the first rows of a table."""
    print_table(table[:_SHOWN], list(table[0]) if table else [])
