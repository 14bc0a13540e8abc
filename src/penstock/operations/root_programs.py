"""Read the programs of topics from the outputs of Terraform's roots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from penstock.contract import describe_misfit
from penstock.errors import OperationError, SettingsError
from penstock.operations.files import read_json
from penstock.operations.outputs import read_outputs
from penstock.operations.programs import Account, Grant, Producer, Programs, Reader, ReaderTable
from penstock.operations.reader_tables import list_changed, list_staged
from penstock.records import RowShape, parse_shapes
from penstock.settings import describe_settings
from penstock.tables import parse_route

_SHAPE_FLAGS: Final = frozenset(row.flag for row in describe_settings(RowShape))
_SINKS: Final = {
    "--lake-table": "lake",
    "--parquet-table": "parquet",
    "--dynamodb-table": "dynamodb",
}
_BROKERS: Final = "KAFKA_BOOTSTRAP_SERVERS"
_EXPECTED: Final = "expected what `terraform output -json` prints"


def load_programs(files: Sequence[Path]) -> Programs:
    """Return the programs that the outputs of roots name.

    Args:
        files: files with outputs, or the folders of roots, whose outputs Terraform prints.

    Raises:
        OperationError: a file or a root cannot be read, or holds no outputs.
    """
    outputs = [_load_outputs(path) for path in files]
    readers: list[Reader] = []
    accounts: dict[str, Account] = {}
    grants: list[Grant] = []
    producers: list[Producer] = []
    for path, values in zip(files, outputs, strict=True):
        with _explained(path):
            readers += _list_readers(values)
            accounts |= _read_account(values)
            grants += _list_grants(values)
            producers += _list_producers(values)
    described = {each.consumer for each in readers}
    for path, values in zip(files, outputs, strict=True):
        with _explained(path):
            readers += _list_contracts(values, described)
    rules = {
        table: flags
        for values in outputs
        for output in values.values()
        if isinstance(output, dict) and isinstance(output.get("rules"), dict)
        for table, flags in output["rules"].items()
    }
    # The producer's root has the brokers' own addresses, a consumer's those that it connects to.
    brokers = next(filter(None, map(_read_brokers, sorted(outputs, key=_is_of_consumer))), "")
    return Programs(tuple(readers), rules, tuple(producers), tuple(grants), accounts, brokers)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, SettingsError) as error:
        raise OperationError(
            f"{path} has no outputs of a root: {describe_misfit(error)}"
        ) from error


def _load_outputs(path: Path) -> dict[str, Any]:
    if path.is_dir():
        return read_outputs(path)
    found = read_json(path)
    try:
        return {name: output["value"] for name, output in found.items()}
    except (AttributeError, KeyError, TypeError) as error:
        problem = describe_misfit(error)
        raise OperationError(f"{path} holds no outputs, {_EXPECTED}: {problem}") from error


def _list_readers(values: Mapping[str, Any]) -> Iterator[Reader]:
    """Yield the jobs, functions and clients of a consumer's root; that of a producer has none."""
    if not _is_of_consumer(values):
        return
    consumer, platform = values["consumer"], values["platform"]
    all_topics = frozenset(platform["brokers"]["topics"])
    jobs = list(_list_jobs(consumer, platform, all_topics))
    yield from jobs
    for output in values.values():
        if isinstance(output, dict) and isinstance(output.get("readers"), dict):
            for name, described in output["readers"].items():
                yield _read_described(consumer, name, described, all_topics)
    stored = {table.name: table for job in jobs for table in job.tables}
    for name, function in values.get("functions", {}).items():
        own = ReaderTable("dynamodb", function["table"], _read_shape(function.get("shape")))
        table = stored.get(own.name, own)
        topics = frozenset(function.get("mappings") or all_topics)
        yield Reader(consumer, f"function {name}", topics, (table,))
    for name, client in values.get("clients", {}).items():
        yield Reader(consumer, f"client {name}", frozenset(client["reads"]), own_code=True)


def _list_jobs(
    consumer: str, platform: Mapping[str, Any], topics: frozenset[str]
) -> Iterator[Reader]:
    named = (platform.get("jobs") or {}).get("named", {})
    for name, job in named.items():
        run = job["runs"][name]  # the others are replays and the maintenance of its tables
        flags = _read_flags(run["arguments"])
        is_running = bool(run.get("streaming", True))
        if "--plan" in flags:
            tables = tuple(list_staged(job["plan"], _name_tables(flags), topics))
            read = frozenset[str]().union(*(each.topics or () for each in tables))
            yield Reader(consumer, f"job {name}", read, tables, is_running=is_running)
            continue
        route, shapes = flags.get("--route"), flags.get("--shapes")
        yield Reader(
            consumer,
            f"job {name}",
            _choose_topics(flags, topics),
            tuple(_list_tables(flags)),
            dict(parse_route(route)) if route else None,
            dict(parse_shapes(shapes)) if shapes else {},
            is_running=is_running,
        )


def _read_flags(words: Sequence[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=False))


def _choose_topics(flags: Mapping[str, str], topics: frozenset[str]) -> frozenset[str]:
    """Return the topics that flags choose: all of the contract without one."""
    if "--topics" in flags:
        return frozenset(flags["--topics"].split(","))
    if pattern := flags.get("--topic-pattern"):
        return frozenset(each for each in topics if re.fullmatch(pattern, each))
    return topics


def _name_tables(flags: Mapping[str, str]) -> dict[str, str]:
    return {kind: flags[flag] for flag, kind in _SINKS.items() if flag in flags}


def _read_described(
    consumer: str, name: str, described: Mapping[str, Any], topics: frozenset[str]
) -> Reader:
    """Return a program that an output `readers` describes, by its flags or by what it reads."""
    if "arguments" in described:
        flags = _read_flags(described["arguments"])
        read = _choose_topics(flags, topics)
        return Reader(consumer, f"job {name}", read, tuple(list_changed(flags, read)))
    tables = tuple(
        ReaderTable("lake", table, made_of={each: tuple(of) for each, of in columns.items()})
        for table, columns in described.get("writes", {}).items()
    )
    return Reader(
        consumer,
        f"job {name}",
        frozenset(described.get("topics", ())),
        tables,
        reads=frozenset(described.get("tables", ())),
        fields=tuple(described.get("fields", ())),
    )


def _list_tables(flags: Mapping[str, str]) -> Iterator[ReaderTable]:
    own = [word for flag in sorted(_SHAPE_FLAGS & flags.keys()) for word in (flag, flags[flag])]
    shape = RowShape.from_args(own, {})
    for kind, name in _name_tables(flags).items():
        yield ReaderTable(kind, name, shape)


def _read_shape(settings: Mapping[str, str] | None) -> RowShape | None:
    """Return the shape of settings by flag without dashes."""
    if settings is None:
        return None
    flags = [word for flag, value in settings.items() for word in (f"--{flag}", value)]
    return RowShape.from_args(flags, {})


def _list_contracts(values: Mapping[str, Any], described: set[str]) -> Iterator[Reader]:
    """Yield the consumers that have a contract, and whose own outputs are not given."""
    for name, contract in values.get("contracts", {}).items():
        if name not in described:
            topics = frozenset(contract["topics"])
            yield Reader(name, "consumer, whose outputs are not given", topics, own_code=True)


def _list_grants(values: Mapping[str, Any]) -> Iterator[Grant]:
    """Yield the access lists that the contracts of the producer's root give to programs."""
    for consumer, contract in values.get("contracts", {}).items():
        for name, program in contract.get("programs", {}).items():
            topics, writes = frozenset(program["topics"]), frozenset(program["writes"])
            yield Grant(consumer, name, tuple(program["usernames"]), topics, writes)


def _list_producers(values: Mapping[str, Any]) -> Iterator[Producer]:
    """Yield the producers, from the settings of the producer's root."""
    for name, profile in values.get("profiles", {}).items():
        if topic := profile.get("PENSTOCK_TOPIC"):
            budget = profile.get("PENSTOCK_VERSION_BUDGET")
            yield Producer(
                f"function {name}",
                topic,
                profile.get("PENSTOCK_SCHEMA_NAME", topic),
                None if budget is None else int(budget),
            )


def _read_account(values: Mapping[str, Any]) -> dict[str, Account]:
    platform = values.get("platform", {})
    if "consumer" not in values or "account_id" not in platform:
        return {}
    return {values["consumer"]: Account(platform["account_id"], platform["region"])}


def _read_brokers(values: Mapping[str, Any]) -> str:
    profiles = values.get("profiles", {}).values()
    return next((found for each in profiles if (found := each.get(_BROKERS))), "")


def _is_of_consumer(values: Mapping[str, Any]) -> bool:
    return "contracts" not in values
