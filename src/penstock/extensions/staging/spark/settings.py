"""Settings of the staging job, `jobs/stage.py`: its flags and its configuration file."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from pyspark.sql import SparkSession

from penstock.contract import contract_environ
from penstock.errors import SettingsError
from penstock.extensions.staging.configuration import read_configuration
from penstock.extensions.staging.plan import StagedTable, StagingPlan, StagingSink
from penstock.extensions.staging.settings import RETRY_SECONDS, JoinTables
from penstock.settings import describe_settings, nested, parse_count, parse_positive, setting
from penstock.sinks import DeadLetterSettings
from penstock.spark.session import begin_job
from penstock.spark.settings.consume import StreamSettings, name_service
from penstock.spark.sinks.base import KindSettings
from penstock.spark.sinks.dynamodb import DynamoDbSettings
from penstock.spark.sinks.iceberg import LakeSettings
from penstock.spark.sinks.settings import SinkSettings
from penstock.spark.state.files import read_text

_TABLE: Final = "{table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSettings(StreamSettings):
    """All settings of jobs/stage.py but its tables, which are in the configuration file."""

    plan: str = setting(
        "PENSTOCK_PLAN", "path or URL of the configuration file, which has the tables"
    )
    dead_letters: DeadLetterSettings = nested(DeadLetterSettings)
    dynamodb_table: str = setting(
        "PENSTOCK_STAGED_TABLES",
        f"names of the DynamoDB tables, with {_TABLE} in place of a table's name in the file",
        default="",
    )
    lake_table: str = setting(
        "PENSTOCK_STAGED_LAKE_TABLE",
        f"names of the Iceberg tables, as DATABASE.TABLE with {_TABLE} in it",
        default="",
    )
    waiting_table: str = setting(
        "PENSTOCK_WAITING_TABLE",
        "DynamoDB table of the rows that wait for others, for a configuration with drivers",
        default="",
    )
    retry_seconds: int = setting(
        "PENSTOCK_RETRY_SECONDS",
        "seconds until the first retry of a join, as the retry function has it",
        parse=parse_count,
        default=RETRY_SECONDS,
    )
    dynamodb_rows_per_second: float | None = setting(
        "PENSTOCK_DYNAMODB_ROWS_PER_SECOND",
        "limit of rows per second written to each DynamoDB table, a number above 0 [no limit]",
        parse=parse_positive,
        default=None,
    )
    max_offsets_per_partition: int = setting(
        "PENSTOCK_MAX_OFFSETS_PER_PARTITION",
        "the most records of one batch for each partition that the topics have at the start, a"
        " number from 1; a batch has no more than that in all",
        parse=parse_count,
        default=5_000,
    )
    service: str = name_service("stage")

    def problems(self) -> Iterator[str]:
        """Yield a problem if names of tables are wrong, or would be the same for all tables."""
        for flag, name in (
            ("--dynamodb-table", self.dynamodb_table),
            ("--lake-table", self.lake_table),
        ):
            if name and _TABLE not in name:
                yield f"{flag} is {name!r}, expected {_TABLE} in it"
        yield from LakeSettings(self.lake_table).problems()

    def sinks_of(self, table: StagedTable) -> SinkSettings:
        """Return the settings of a table's sinks."""
        sinks: dict[str, KindSettings] = {}
        if StagingSink.DYNAMODB in table.sinks:
            name = self.dynamodb_name(table.name)
            sinks["dynamodb"] = DynamoDbSettings(name, self.dynamodb_rows_per_second)
        if StagingSink.LAKE in table.sinks:
            sinks["iceberg"] = LakeSettings(self.lake_table.replace(_TABLE, table.name))
        letters = self.dead_letters
        return SinkSettings(letters.errors_table, letters.parked_bucket, sinks, shape=table.shape)

    def dynamodb_name(self, table: str) -> str:
        """Return the name of the DynamoDB table of a staged or final table."""
        return self.dynamodb_table.replace(_TABLE, table)

    @property
    def join_tables(self) -> JoinTables:
        """The tables and the bucket that joins read and write."""
        return JoinTables(
            self.dynamodb_table,
            self.waiting_table,
            self.dead_letters.errors_table,
            self.dead_letters.parked_bucket,
            self.retry_seconds,
        )


def read_stage_job(
    name: str, argv: Sequence[str] | None
) -> tuple[SparkSession, StageSettings, StagingPlan]:
    """Start Spark for a staging job, and read its settings and its plan.

    Raises:
        SettingsError: settings or the configuration file are invalid; the error lists every
            problem.
    """
    spark, words = begin_job(name, argv)
    return spark, *read_stage_settings(words, os.environ, partial(read_text, spark))


def read_stage_settings(
    argv: Sequence[str], environ: Mapping[str, str], read_text: Callable[[str], str]
) -> tuple[StageSettings, StagingPlan]:
    """Read the settings and the plan of a staging job.

    Flags override the configuration file, which overrides the contract, which overrides the
    environment. `read_text` returns the text at a path or URL.

    Raises:
        SettingsError: the file or the settings are invalid; it lists every problem of the file, or
            of the settings.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    StageSettings.add_flags(parser)
    given = {name: text for name, text in vars(parser.parse_known_args(argv)[0]).items() if text}
    flags = {
        row.variable: given[name]
        for row in describe_settings(StageSettings)
        if (name := row.flag[2:].replace("-", "_")) in given
    }
    variables = {**environ, **flags}
    if contract := variables.get("PENSTOCK_CONTRACT"):
        variables = {**environ, **contract_environ(read_text(contract)), **flags}
    if not variables.get("PENSTOCK_PLAN"):
        StageSettings.from_args(argv, variables)  # which says what is missing
    configuration = read_configuration(read_text(variables["PENSTOCK_PLAN"]), variables)
    plan = configuration.plan
    variables |= {**configuration.variables, "PENSTOCK_TOPIC_PATTERN": match_topics(plan), **flags}
    variables.pop("PENSTOCK_TOPICS", None)
    settings = StageSettings.from_args(argv, variables)
    _check_sinks(settings, plan)
    return settings, plan


def match_topics(plan: StagingPlan) -> str:
    """Return a regular expression for all topics of a plan.

    Spark takes topics by name only if all of them exist, and a topic may be created later.
    """
    topics = [re.escape(topic) for table in plan.tables for topic in table.topics]
    return "|".join([*topics, *(f"(?:{each.pattern})" for each in plan.tables if each.pattern)])


def _check_sinks(settings: StageSettings, plan: StagingPlan) -> None:
    needed = {sink for table in plan.tables for sink in table.sinks}
    names = {
        StagingSink.DYNAMODB: ("--dynamodb-table", settings.dynamodb_table),
        StagingSink.LAKE: ("--lake-table", settings.lake_table),
    }
    problems = [
        f"{flag} is missing, expected names of tables: the configuration has tables in {sink}"
        for sink, (flag, name) in names.items()
        if sink in needed and not name
    ]
    if plan.drivers() and not settings.waiting_table:
        problems.append("--waiting-table is missing, expected a table: the configuration has joins")
    if problems:
        raise SettingsError(problems)
