"""Settings of the retry function, and the joiner that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from penstock.extensions.staging.configuration import load_plan
from penstock.extensions.staging.join import Joiner
from penstock.extensions.staging.plan import StagingPlan
from penstock.extensions.staging.unjoined_table import UnjoinedTable
from penstock.extensions.staging.waiting import WaitingTable
from penstock.settings import parse_count, setting
from penstock.sinks import DeadLetterSettings, DynamoDbClient, ObjectStore

RETRY_SECONDS = 300


@dataclass(frozen=True, slots=True)
class JoinTables:
    """The tables of a plan's joins; `staged` has `{table}` for a table's name in the plan."""

    staged: str
    waiting: str
    errors: str
    parked_bucket: str
    retry_seconds: int = RETRY_SECONDS

    def open(self, plan: StagingPlan) -> Joiner:
        """Return the joiner of a plan; it makes no network call."""
        client = DynamoDbClient()
        store = ObjectStore(self.parked_bucket)
        errors = UnjoinedTable(client, self.errors, store, self.retry_seconds)
        return Joiner(client, plan, self.staged, WaitingTable(client, self.waiting), errors)


@dataclass(frozen=True, slots=True)
class RetrySettings(DeadLetterSettings):
    """The plan of a staging job and its tables, for the function that retries its joins."""

    plan: str = setting(
        "PENSTOCK_PLAN", "path or s3:// URL of the configuration of the staging job"
    )
    staged_tables: str = setting(
        "PENSTOCK_STAGED_TABLES",
        "name of a DynamoDB table of the plan, with {table} for its name in the plan",
    )
    waiting_table: str = setting(
        "PENSTOCK_WAITING_TABLE", "DynamoDB table of the rows that wait for others"
    )
    service: str = setting(
        "PENSTOCK_SERVICE", "name of the staging job, in logs and metrics", default="stage"
    )
    retry_seconds: int = setting(
        "PENSTOCK_RETRY_SECONDS",
        "seconds until the first retry of a join; the delay doubles, and the third failure parks"
        " the record",
        parse=partial(parse_count, least=1),
        default=RETRY_SECONDS,
    )

    def open(self) -> Joiner:
        """Read the plan of the configuration, and return its joiner.

        Raises:
            SettingsError: the configuration is wrong.
            SinkAccessDeniedError, SinkUnavailableError: S3 does not answer with it.
        """
        plan = load_plan(self.plan)
        tables = JoinTables(
            self.staged_tables,
            self.waiting_table,
            self.errors_table,
            self.parked_bucket,
            self.retry_seconds,
        )
        return tables.open(plan)
