"""The contract of a consumer, as settings: what `penstock contract` writes and programs read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from penstock.errors import SettingsError
from penstock.settings import parse_json


def describe_misfit(error: Exception) -> str:
    """Return in words why a value of JSON is not read, where Python names no more than a type."""
    if isinstance(error, KeyError):
        return f"found no `{error.args[0]}`"
    if isinstance(error, json.JSONDecodeError | SettingsError):
        return str(error)
    if isinstance(error, RecursionError):
        return "it nests too deep"
    return "a value in it has another type or form"


def contract_environ(text: str) -> dict[str, str]:
    """Return a contract as environment variables of a Spark job, which flags override.

    Topics and consumer groups are those of the program `jobs`, where the contract has one. The
    contract holds no password; the consumer account has its own copy of that.

    Raises:
        SettingsError: the text is not a contract, or a part of it is missing.
    """
    try:
        contract = parse_json(text)["contract"]
        return _name_values(contract)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise SettingsError(
            [
                "the contract cannot be used, expected what `make contract` writes: "
                f"{describe_misfit(error)}"
            ]
        ) from error


def _name_values(contract: dict[str, Any]) -> dict[str, str]:
    brokers = contract["brokers"].values()
    program = contract.get("programs", {}).get("jobs", contract)
    return {
        "AWS_REGION": contract["region"],
        "KAFKA_BOOTSTRAP_SERVERS": ",".join(f"{it['host']}:{it['port']}" for it in brokers),
        "KAFKA_SECURITY": "scram",
        "PENSTOCK_GROUP_PREFIX": program["group_prefix"],
        "PENSTOCK_REGISTRY": " ".join(_list_registries(contract)),
        "PENSTOCK_TOPICS": ",".join(program["topics"]),
    } | _describe_unframed(contract.get("unframed"))


def _describe_unframed(topics: dict[str, str] | None) -> dict[str, str]:
    """Return the setting for topics without frames, if there are any."""
    return {"PENSTOCK_UNFRAMED": ",".join(map("=".join, topics.items()))} if topics else {}


def _list_registries(contract: dict[str, Any]) -> Iterator[str]:
    """Yield the URLs of the registries: the producer's in Glue, and the others."""
    glue = contract["registry"]
    options = {"region": contract["region"]} | {k: glue[k] for k in ("role_arn", "external_id")}
    yield f"glue://{glue['name']}?{urlencode(options)}"
    yield from (other["url"] for other in contract.get("registries", ()))
