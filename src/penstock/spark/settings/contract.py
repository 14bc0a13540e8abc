"""Translate the producer account's contract to settings of a job."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from pyspark.sql import SparkSession

from penstock.errors import SettingsError


def read_text(spark: SparkSession, path: str) -> str:
    """Return the text of a file, on any file system that Spark can read."""
    (row,) = spark.read.text(path, wholetext=True).collect()
    return str(row.value)


def contract_environ(text: str) -> dict[str, str]:
    """Return a contract as environment variables, which flags override.

    The contract does not hold the secret; the consumer account has its own copy of that.

    Raises:
        SettingsError: the text is not a contract, or a part of it is missing.
    """
    try:
        contract = json.loads(text)["contract"]
        return _describe(contract)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SettingsError(
            [f"the contract cannot be used, expected what `make contract` writes: {error!r}"]
        ) from error


def _describe(contract: dict[str, Any]) -> dict[str, str]:
    brokers = contract["brokers"].values()
    return {
        "AWS_REGION": contract["region"],
        "KAFKA_BOOTSTRAP_SERVERS": ",".join(f"{it['host']}:{it['port']}" for it in brokers),
        "KAFKA_SECURITY": "scram",
        "PENSTOCK_GROUP_PREFIX": contract["group_prefix"],
        "PENSTOCK_REGISTRY": _write_url(contract["region"], contract["registry"]),
        "PENSTOCK_TOPICS": ",".join(contract["topics"]),
    }


def _write_url(region: str, registry: dict[str, str]) -> str:
    role = {"role_arn": registry["role_arn"], "external_id": registry["external_id"]}
    return f"glue://{registry['name']}?{urlencode({'region': region, **role})}"
