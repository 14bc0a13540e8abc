"""The tables, buckets and jobs of the consumer, and who may read its lake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side

_CONSUMER = Side.CONSUMER
_SERVES = {"ACTIVE", "UPDATING"}
_GONE = {"missing", "TERMINATED"}
_EVERYBODY = "IAM_ALLOWED_PRINCIPALS"
_CHECKPOINTS = "checkpoints/"
_LEASE_FILE = "penstock-lease/table"


def look_at_tables(world: World) -> Iterator[Seen | Break]:
    """Check that the tables of readings, dead letters and leases are active."""
    store = _platform(world)["store"]
    tables = [each["name"] for kind in ("readings", "errors") for each in store[kind].values()]
    for name in sorted({*tables, store["leases"]["name"]}):
        found = world.ask(_CONSUMER, "dynamodb", "describe_table", TableName=name)
        state = found["Table"]["TableStatus"] if found else "missing"
        if state not in _SERVES:
            yield Break("table-not-active", name, f"the table is {state}", "ACTIVE")
    yield Seen(f"{len(tables)} tables")


def look_at_lake(world: World) -> Iterator[Seen | Break]:
    """Check the database of the lake, its bucket, and the bucket of parked records."""
    lake = _platform(world)["lake"]
    database = lake["database"]["name"]
    if world.ask(_CONSUMER, "glue", "get_database", Name=database) is None:
        yield Break(
            "database-missing",
            database,
            "no such database in the Glue catalog",
            "the database of the lake",
        )
    for bucket in (lake["bucket"]["name"], lake["parked_bucket"]["name"]):
        if world.ask(_CONSUMER, "s3", "get_bucket_location", Bucket=bucket) is None:
            yield Break("bucket-missing", bucket, "no such bucket", "one")
    yield Seen(f"database {database}, bucket {lake['bucket']['name']}")


def look_at_grants(world: World) -> Iterator[Seen | Break]:
    """Check that the roles of jobs have permissions on the lake's database, if it needs them."""
    platform = _platform(world)
    answer = world.ask(_CONSUMER, "lakeformation", "get_data_lake_settings")
    defaults = answer["DataLakeSettings"].get("CreateDatabaseDefaultPermissions", [])
    if defaults:
        yield Seen("IAM alone decides who reads the lake")
        return
    database = platform["lake"]["database"]["name"]
    asked = {"Resource": {"Database": {"Name": database}}}
    found = world.ask(_CONSUMER, "lakeformation", "list_permissions", **asked)
    granted = {
        each["Principal"]["DataLakePrincipalIdentifier"]
        for each in (found or {}).get("PrincipalResourcePermissions", [])
    }
    if not granted:  # others see their own permissions alone
        raise NotSeenError("only an administrator of the data lake sees the permissions of others")
    for name, principal in sorted(platform["lake"]["principals"].items()):
        if principal["database"] and not {principal["arn"], _EVERYBODY} & granted:
            yield Break(
                "lake-grant-missing",
                name,
                f"{principal['arn']} has no permission on {database}",
                "a grant of Lake Formation, which decides in this account",
            )
    yield Seen(f"{len(granted)} principals have permissions on {database}")


def look_at_application(world: World) -> Iterator[Seen | Break]:
    """Check that the Spark application is there."""
    application = world.outputs(_CONSUMER).get("spark_application")
    if application is None:
        yield Seen("no Spark application")
        return
    asked = {"applicationId": application}
    found = world.ask(_CONSUMER, "emr-serverless", "get_application", **asked)
    state = found["application"]["state"] if found else "missing"
    if state in _GONE:
        yield Break(
            "application-missing",
            application,
            f"the application is {state}",
            "one that starts with a job",
        )
    else:
        yield Seen(f"application {application} is {state}")


def look_at_schedules(world: World) -> Iterator[Seen | Break]:
    """Check that each schedule group of the consumer has its schedule, and that it is on."""
    prefix = _platform(world)["prefix"]
    groups = world.ask(_CONSUMER, "scheduler", "list_schedule_groups", NamePrefix=f"{prefix}-")
    names = [each["Name"] for each in groups["ScheduleGroups"]]
    for name in names:
        found = world.ask(_CONSUMER, "scheduler", "get_schedule", GroupName=name, Name=name)
        if found is None:
            yield Break("schedule-off", name, "no such schedule", "one")
        elif found["State"] != "ENABLED":
            yield Break("schedule-off", name, f"the schedule is {found['State']}", "ENABLED")
    yield Seen(f"{len(names)} schedules are on")


def look_at_leases(world: World) -> Iterator[Seen | Break]:
    """Check that the table is there that holds the lease of each checkpoint.

    A file beside a checkpoint names it: the table of dead letters of the job's first start. A job
    that is given another table still looks there.
    """
    bucket = _platform(world)["lake"]["bucket"]["name"]
    asked = {"Bucket": bucket, "Prefix": _CHECKPOINTS, "Delimiter": "/"}
    found = world.ask(_CONSUMER, "s3", "list_objects_v2", **asked)
    folders = [each["Prefix"] for each in (found or {}).get("CommonPrefixes", [])]
    for folder in folders:
        table = world.read_object(bucket, f"{folder}{_LEASE_FILE}")
        if table and not world.ask(_CONSUMER, "dynamodb", "describe_table", TableName=table):
            yield Break(
                "lease-table-missing",
                folder.removeprefix(_CHECKPOINTS).rstrip("/"),
                f"no table {table}, which the checkpoint names for its lease",
                "the table of dead letters of the job's first start",
                f"{world.apply(_CONSUMER)}, with that table",
            )
    yield Seen(f"{len(folders)} checkpoints")


def _platform(world: World) -> dict[str, Any]:
    platform: dict[str, Any] = world.outputs(_CONSUMER)["platform"]
    return platform
