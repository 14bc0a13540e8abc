"""The AWS account of a run: an emulation of AWS on this machine, and tables in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3

from systems.error_tables import make_error_table
from systems.place import ROOT
from systems.tables import make_table

ACCOUNT, REGION = "111111111111", "eu-central-1"


@contextmanager
def running_aws(folder: Path) -> Iterator[str]:
    """Run localcloud's AWS APIs until the block ends, and yield their endpoint."""
    folder.mkdir()
    words = [sys.executable, "-m", "systems.aws", str(folder)]
    with (folder / "log").open("wb") as log:
        cloud = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)
    with cloud:
        assert cloud.stdout
        try:
            yield cloud.stdout.readline().strip()
        finally:
            cloud.kill()


def environ_of(endpoint: str, account: str = ACCOUNT) -> dict[str, str]:
    """Return the environment of a program that works in an account."""
    return {
        **os.environ,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
    }


def make_errors(endpoint: str, name: str) -> Mapping[str, str]:
    """Make a table and a bucket for dead letters as infra/modules/reading-store does."""
    session = boto3.Session(ACCOUNT, "any", region_name=REGION)
    make_error_table(session.resource("dynamodb", endpoint_url=endpoint), name)
    bucket = f"{name}-parked"
    _client("s3", endpoint).create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    return {"PENSTOCK_ERRORS_TABLE": name, "PENSTOCK_PARKED_BUCKET": bucket}


def make_rows(endpoint: str, name: str) -> None:
    """Make a table for rows by `id` and the place of their record."""
    make_table(_client("dynamodb", endpoint), name, "id", "rowId")


def make_lake(endpoint: str, account: str, database: str) -> str:
    """Make a database in an account's Glue with its files in a bucket, and return the bucket."""
    bucket = f"lake-{account}"
    _client("s3", endpoint, account).create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    place = {"Name": database, "LocationUri": f"s3://{bucket}/{database}/"}
    _client("glue", endpoint, account).create_database(DatabaseInput=place)
    return bucket


def _client(service: Any, endpoint: str, account: str = ACCOUNT) -> Any:
    session = boto3.Session(account, "any", region_name=REGION)
    return session.client(service, endpoint_url=endpoint)
