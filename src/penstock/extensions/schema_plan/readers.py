"""The programs that read the topics of schemas, as the outputs of Terraform's roots name them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from penstock.errors import OperationError, SettingsError
from penstock.records import RowShape
from penstock.settings import describe_settings
from penstock.tables import TABLE

_SHAPE_FLAGS: Final = frozenset(row.flag for row in describe_settings(RowShape))
_READING: Final = frozenset({"consume", "stage"})
_SINKS: Final = {
    "--lake-table": "lake",
    "--parquet-table": "parquet",
    "--dynamodb-table": "dynamodb",
}
_EXPECTED: Final = "expected what `terraform output -json` prints"


@dataclass(frozen=True, slots=True)
class Table:
    """A table and the kind of its sink; `shape` is None if the outputs do not tell."""

    kind: str
    name: str
    shape: RowShape | None


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that reads topics.

    `routes` are the tables by schema, None if one holds every schema, and `shapes` the shapes of
    rows by table. `own_code` says that the program may read all records with one version of a
    schema, as no program of Penstock does.
    """

    consumer: str
    program: str
    topics: frozenset[str]
    tables: tuple[Table, ...] = ()
    routes: Mapping[str, str] | None = None
    shapes: Mapping[str, RowShape] = field(default_factory=dict)
    is_running: bool = True
    own_code: bool = False
    has_plan: bool = False

    def choose_tables(self, schema: str) -> tuple[Table, ...] | None:
        """Return the tables that hold the records of a schema; None if it has no route."""
        if self.routes is None:
            return self.tables
        if schema not in self.routes:
            return None
        table = self.routes[schema]
        shape = self.shapes.get(table)
        return tuple(
            replace(each, name=each.name.replace(TABLE, table), shape=shape or each.shape)
            for each in self.tables
        )


@dataclass(frozen=True, slots=True)
class Readers:
    """The readers of topics, the rules of quality by table, and the producers' settings.

    `topics` are those of each schema, and `budgets` the most versions of each.
    """

    readers: tuple[Reader, ...] = ()
    rules: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    topics: Mapping[str, frozenset[str]] = field(default_factory=dict)
    budgets: Mapping[str, int] = field(default_factory=dict)

    def find(self, schema: str) -> tuple[Reader, ...]:
        """Return the readers of the topics of a schema, which else has its name."""
        topics = self.topics.get(schema, frozenset({schema}))
        return tuple(each for each in self.readers if each.topics & topics)


def load_readers(files: Sequence[Path]) -> Readers:
    """Return the readers that files with the outputs of roots name.

    Raises:
        OperationError: a file cannot be read, or holds no outputs.
    """
    outputs = [_load_outputs(path) for path in files]
    readers: list[Reader] = []
    for path, values in zip(files, outputs, strict=True):
        with _explained(path):
            readers += _list_readers(values)
    described = {each.consumer for each in readers}
    for path, values in zip(files, outputs, strict=True):
        with _explained(path):
            readers += _list_contracts(values, described)
    topics, budgets = _read_producers(outputs)
    rules = {
        table: flags
        for values in outputs
        for output in values.values()
        if isinstance(output, dict) and isinstance(output.get("rules"), dict)
        for table, flags in output["rules"].items()
    }
    return Readers(tuple(readers), rules, topics, budgets)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, SettingsError) as error:
        raise OperationError(f"{path} has no outputs of a root: {error!r}") from error


def _load_outputs(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
        return {name: output["value"] for name, output in found.items()}
    except OSError as error:
        raise OperationError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise OperationError(f"{path} holds no outputs, {_EXPECTED}: {error!r}") from error


def _list_readers(values: Mapping[str, Any]) -> Iterator[Reader]:
    """Yield the jobs, functions and clients of a consumer's root; that of a producer has none."""
    if "contracts" in values:  # of the producer's root
        return
    consumer, platform = values["consumer"], values["platform"]
    all_topics = frozenset(platform["brokers"]["topics"])
    jobs = list(_list_jobs(consumer, platform, all_topics))
    yield from jobs
    stored = {table.name: table for job in jobs for table in job.tables}
    for name, function in values.get("functions", {}).items():
        table = stored.get(function["table"], Table("dynamodb", function["table"], None))
        topics = frozenset(function.get("mappings") or all_topics)
        yield Reader(consumer, f"function {name}", topics, (table,))
    for name, client in values.get("clients", {}).items():
        yield Reader(consumer, f"client {name}", frozenset(client["reads"]), own_code=True)


def _list_jobs(
    consumer: str, platform: Mapping[str, Any], topics: frozenset[str]
) -> Iterator[Reader]:
    named = (platform.get("jobs") or {}).get("named", {})
    for name, job in named.items():
        run = job["runs"].get(name)
        if run is None or Path(run["program"]).stem not in _READING:
            continue
        words = run["arguments"]
        flags = dict(zip(words[::2], words[1::2], strict=False))
        read = frozenset(flags["--topics"].split(",")) if "--topics" in flags else topics
        routes = None
        if "--route" in flags:
            routes = dict(pair.strip().split("=", 1) for pair in flags["--route"].split(","))
        yield Reader(
            consumer,
            f"job {name}",
            read,
            () if "--plan" in flags else tuple(_list_tables(flags)),
            routes,
            _read_shapes(flags.get("--shapes", "")),
            is_running=bool(run.get("streaming", True)),
            has_plan="--plan" in flags,
        )


def _list_tables(flags: Mapping[str, str]) -> Iterator[Table]:
    own = [word for flag in sorted(_SHAPE_FLAGS & flags.keys()) for word in (flag, flags[flag])]
    shape = RowShape.from_args(own, {})
    for flag, kind in _SINKS.items():
        if flag in flags:
            yield Table(kind, flags[flag], shape)


def _read_shapes(text: str) -> dict[str, RowShape]:
    """Return the shapes of rows by table, from `TABLE.FLAG=VALUE;...`."""
    words: dict[str, list[str]] = {}
    for entry in filter(None, text.split(";")):
        name, _, value = entry.partition("=")
        table, _, flag = name.strip().partition(".")
        words.setdefault(table, []).extend((f"--{flag}", value))
    return {table: RowShape.from_args(flags, {}) for table, flags in words.items()}


def _list_contracts(values: Mapping[str, Any], described: set[str]) -> Iterator[Reader]:
    """Yield the consumers that have a contract, and whose own outputs are not given."""
    for name, contract in values.get("contracts", {}).items():
        if name not in described:
            topics = frozenset(contract["topics"])
            yield Reader(name, "consumer, whose outputs are not given", topics, own_code=True)


def _read_producers(
    outputs: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, frozenset[str]], dict[str, int]]:
    """Return the topics of schemas and their budgets, from the settings of producer functions."""
    topics: dict[str, frozenset[str]] = {}
    budgets: dict[str, int] = {}
    for values in outputs:
        for profile in values.get("profiles", {}).values():
            if topic := profile.get("PENSTOCK_TOPIC"):
                name = profile.get("PENSTOCK_SCHEMA_NAME", topic)
                topics[name] = topics.get(name, frozenset()) | {topic}
                if "PENSTOCK_VERSION_BUDGET" in profile:
                    budgets[name] = int(profile["PENSTOCK_VERSION_BUDGET"])
    return topics, budgets
