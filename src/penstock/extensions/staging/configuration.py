"""The configuration of a staging job: one JSON file, validated whole.

The file says which topics become which tables (`StagingPlan`), and may name the registry, the
brokers and where to begin. Its format is published as docs/staging.schema.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from penstock.aws import read_text_at
from penstock.errors import SettingsError
from penstock.extensions.staging._format import ALIASES, FILE, TABLE_ALIASES
from penstock.extensions.staging._json_schema import find_faults
from penstock.extensions.staging.plan import (
    Dependency,
    Role,
    StagedTable,
    StagingPlan,
    StagingSink,
    find_problems,
)
from penstock.kafka import KafkaSettings
from penstock.records import Projection, make_staged_shape
from penstock.registry import load_registries
from penstock.settings import describe_settings, parse_json, parse_moment

# The JSON Schema of the file.
FORMAT: Final = FILE
_WHOLE: Final = str(FORMAT["description"])
_HTTP: Final = re.compile(r"^(?=https?://)")
# A table of an older program with this in its name starts joins.
_DRIVING: Final = "main_driving_table"
_MOST_RECORDS: Final = 10_000
_MOST_OF_A_PARTITION: Final = 5_000
_VARIABLES: Final = {
    "registry": "PENSTOCK_REGISTRY",
    "group_prefix": "PENSTOCK_GROUP_PREFIX",
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """A plan, and the settings that its file gives.

    Attributes:
        plan: the tables.
        variables: values by the variables of the settings (`KafkaSettings`, `RegistrySettings` and
            those of the job), for the settings that the file has.
    """

    plan: StagingPlan
    variables: Mapping[str, str]


@contextmanager
def _refused_if_deep() -> Iterator[None]:
    """Raise SettingsError where JSON nests too deep to be read, checked or shown."""
    try:
        yield
    except RecursionError:
        raise SettingsError([f"$: nests too deep to be read as JSON, expected {_WHOLE}"]) from None


@contextmanager
def _named_file(where: str) -> Iterator[None]:
    """Name the file in each problem."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError([f"{where}: {problem}" for problem in error.problems]) from error


def load_configuration(where: str, environ: Mapping[str, str]) -> Configuration:
    """Read the configuration at a path or s3:// URL; see `read_configuration`.

    Raises:
        SettingsError: the file cannot be read, or is wrong.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies the object, or does not answer, or
            there is no such object (retriable).
    """
    text = read_text_at(where)
    with _named_file(where):
        return read_configuration(text, environ)


def load_plan(where: str) -> StagingPlan:
    """Read only the tables, for a program that uses neither the brokers nor a registry.

    Raises:
        SettingsError, SinkAccessDeniedError, SinkUnavailableError: see `load_configuration`.
    """
    text = read_text_at(where)
    with _named_file(where), _refused_if_deep():
        tables = {name: value for name, value in _parse(text).items() if name == "tables"}
        return _read_object(tables, {}).plan


@_refused_if_deep()
def read_configuration(text: str, environ: Mapping[str, str]) -> Configuration:
    """Read a configuration file.

    Args:
        text: the file.
        environ: variables of settings that the file may lack, such as KAFKA_SECRET_ARN.

    Raises:
        SettingsError: the file is wrong; it lists every problem with its place.
    """
    return _read_object(_parse(text), environ)


def _parse(text: str) -> dict[str, Any]:
    try:
        given = parse_json(text)
    except ValueError as error:
        raise SettingsError([f"$: found no JSON ({error}), expected {_WHOLE}"]) from error
    if not isinstance(given, dict):
        raise SettingsError(list(find_faults(given, FORMAT)))
    return given


def _read_object(given: Mapping[str, Any], environ: Mapping[str, str]) -> Configuration:
    faults = list(find_faults(given, FORMAT))
    problems: dict[str, None] = dict.fromkeys(faults)  # in order, each once
    tables: dict[int, StagedTable] = {}
    entries = given.get("tables")
    entries = entries if isinstance(entries, list) else []
    for at, entry in enumerate(entries):
        where = f"$.tables[{at}]"
        if any(fault.startswith(where) for fault in faults):
            continue
        try:
            tables[at] = _make_table(entry)
        except SettingsError as error:
            problems |= dict.fromkeys(f"{where}: {problem}" for problem in error.problems)
    complete = len(tables) == len(entries)
    problems |= dict.fromkeys(find_problems(tables, complete=complete and bool(entries)))
    faulty = {re.split(r"[.\[:]", fault.removeprefix("$."))[0] for fault in faults}
    sound = {name: value for name, value in given.items() if name not in faulty}
    variables, found = _read_settings(sound, environ)
    problems |= dict.fromkeys(found)
    if problems:
        raise SettingsError(list(problems))
    return Configuration(StagingPlan(tuple(tables.values())), variables)


def _make_table(entry: Mapping[str, Any]) -> StagedTable:
    """Return the table of an entry that has the format."""
    given = {TABLE_ALIASES.get(name, name): value for name, value in entry.items()}
    problems: list[str] = []
    if "topic_name" in entry:
        given["topics"] = [entry["topic_name"]]
    name = given["name"]
    if "target_table_name" in entry:
        name = re.sub(r"[^a-z0-9_]", "_", name.lower())
    pattern = given.get("topic_pattern", "")
    try:
        re.compile(pattern)
    except re.error as error:
        problems.append(f"topic_pattern is {pattern!r}, expected a regular expression ({error})")
    dependencies = tuple(_make_dependency(each) for each in given.get("dependencies", ()))
    is_driver = bool(dependencies) or ("target_table_name" in entry and _DRIVING in name)
    try:
        shape = make_staged_shape(given)
    except SettingsError as error:
        raise SettingsError([*problems, *error.problems]) from error
    if problems:
        raise SettingsError(problems)
    return StagedTable(
        name,
        shape,
        tuple(given.get("topics", ())),
        pattern,
        Projection(
            tuple(given.get("columns", ())),
            tuple(given.get("rename", {}).items()),
            given.get("lower_case", "column_names" in entry),
        ),
        Role(given.get("role", Role.DRIVER if is_driver else Role.STAGING)),
        frozenset(map(StagingSink, given.get("sinks", [StagingSink.DYNAMODB]))),
        dependencies,
        given.get("final"),
    )


def _make_dependency(given: Mapping[str, Any]) -> Dependency:
    table = given["table"]
    name, is_optional = given.get("name", table), given.get("optional", False)
    return Dependency(table, tuple(given["key"].items()), name, is_optional)


def _read_settings(
    given: Mapping[str, Any], environ: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the variables that a file gives, and the problems of their values."""
    named = {ALIASES.get(name, name): value for name, value in given.items()}
    variables = {variable: named[name] for name, variable in _VARIABLES.items() if name in named}
    if "schema_registry_url" in given:
        variables["PENSTOCK_REGISTRY"] = _HTTP.sub("confluent+", named["registry"])
    starting = named.get("starting")
    if starting is not None:
        text = starting if isinstance(starting, str) else json.dumps(starting)
        variables["PENSTOCK_STARTING"] = text
    for limit, default in (
        ("max_offsets_per_trigger", _MOST_RECORDS),
        ("max_offsets_per_partition", _MOST_OF_A_PARTITION),
    ):
        variables[f"PENSTOCK_{limit.upper()}"] = str(named.get(limit, default))
    kafka = named.get("kafka", {})
    if "kafka_bootstrap_servers" in given:
        kafka = {"bootstrap_servers": kafka, "security": "scram"}
    return variables | _kafka_variables(kafka), [
        *_registry_problems(variables),
        *_kafka_problems(_kafka_variables(kafka), environ),
        *_starting_problems(variables.get("PENSTOCK_STARTING", "")),
    ]


def _kafka_variables(kafka: Mapping[str, Any]) -> dict[str, str]:
    names = {
        row.flag[2:].replace("-", "_"): row.variable for row in describe_settings(KafkaSettings)
    }
    return {
        names[name]: value if isinstance(value, str) else ",".join(value)
        for name, value in kafka.items()
    }


def _registry_problems(variables: Mapping[str, str]) -> Iterator[str]:
    if "PENSTOCK_REGISTRY" in variables:
        try:
            load_registries(variables["PENSTOCK_REGISTRY"], ())
        except SettingsError as error:
            yield from (f"$.registry: {problem}" for problem in error.problems)


def _kafka_problems(kafka: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[str]:
    if kafka:
        try:
            KafkaSettings.from_environ({**environ, **kafka})
        except SettingsError as error:
            yield from (f"$.kafka: {problem}" for problem in error.problems)


def _starting_problems(text: str) -> Iterator[str]:
    """Yield the problem of a time or offsets that have the form of one and are none."""
    expected = FORMAT["properties"]["starting"]
    if text.lstrip().startswith("{"):
        try:
            offsets = parse_json(text)
        except ValueError as error:
            yield f"$.starting: found text that is no JSON ({error}), expected offsets"
        else:
            yield from find_faults(offsets, expected["anyOf"][-1], "$.starting")
    elif text[:1].isdigit():
        try:
            parse_moment(text)
        except ValueError:
            yield f"$.starting: found {json.dumps(text)}, expected {expected['description']}"
