"""Find what keeps records from becoming rows: a network hop, mapping, function or job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from demo.accounts import Account
from demo.screen import StepFailedError

_LEVELS = ("ERROR", "WARNING", "CRITICAL")
_ENDED = ("Task timed out", "Runtime exited")
_OF_ALL_LINES = frozenset({"level", "location", "message", "service", "timestamp", "cold_start"})
_SERVED = "PROBLEM: Function call failed"  # the mapping did its part
_LAST_LINES = 8


def diagnose_rows(
    producer: Account, consumer: Account, contract: dict[str, Any], made: dict[str, Any]
) -> StepFailedError:
    """Return the first thing that does not work between the brokers and the function `made`."""
    lambda_ = consumer.client("lambda")
    function = made["name"]
    network = lambda_.get_function_configuration(FunctionName=function)["VpcConfig"]
    place = (network["SubnetIds"][0], network["SecurityGroupIds"][0])
    if found := _find_failed_hop(producer, consumer, contract, place):
        return found
    for topic, uuid in made["mappings"].items():
        mapping = lambda_.get_event_source_mapping(UUID=uuid)
        said = mapping["LastProcessingResult"]
        if mapping["State"] != "Enabled" or (said.startswith("PROBLEM") and said != _SERVED):
            where = f"{consumer.where}, mapping of {topic} ({mapping['State']})"
            return StepFailedError(where, said)
    lines = choose_lines(consumer.local.read_log(function))
    return StepFailedError(f"{consumer.where}, function {function}", "it wrote no row", lines)


def diagnose_job(
    producer: Account, consumer: Account, contract: dict[str, Any], run: dict[str, Any]
) -> StepFailedError:
    """Return the first hop that fails between a job run and the brokers, else how the run ended."""
    network = run["networkConfiguration"]
    place = (network["subnetIds"][0], network["securityGroupIds"][0])
    if found := _find_failed_hop(producer, consumer, contract, place):
        return found
    name = run["jobRunId"]
    lines = [f"its log: .venv/bin/python -m localcloud logs {name} --once"]
    why = f"{run['state']} {run['stateDetails']}".strip()
    return StepFailedError(f"{consumer.where}, job run {name}", why, lines)


def choose_lines(log: Sequence[str]) -> list[str]:
    """Return the last lines of a function's log about a failure, one line each, without traces."""
    chosen = [line for line in map(_shorten, log) if line]
    return list(dict.fromkeys(chosen))[-_LAST_LINES:]


def _find_failed_hop(
    producer: Account, consumer: Account, contract: dict[str, Any], place: tuple[str, str]
) -> StepFailedError | None:
    """Trace from a subnet and security group of the consumer to each broker.

    Returns the first hop that fails.
    """
    for broker in contract["brokers"].values():
        hops, missing = _walk(consumer, broker, *place)
        if missing:
            # The hops behind the endpoint service are in the producer account.
            crossed = any(hop.startswith("endpoint service") for hop in hops)
            where = f"{(producer if crossed else consumer).where}, way to {broker['host']}"
            return StepFailedError(where, missing, hops)
    return None


def _walk(
    consumer: Account, broker: dict[str, Any], subnet: str, group: str
) -> tuple[list[str], str]:
    (found,) = consumer.client("ec2").describe_subnets(SubnetIds=[subnet])["Subnets"]
    asked = {"vpc": found["VpcId"], "group": group}
    found = consumer.local.ask("trace", host=broker["host"], port=broker["port"], **asked)
    return found["hops"], found["missing"]


def _shorten(line: str) -> str:
    if line.startswith("{"):
        entry = json.loads(line)
        if entry.get("level") not in _LEVELS:
            return ""
        more = [
            f"{name}={value}"
            for name, value in entry.items()
            if name not in _OF_ALL_LINES and not name.startswith(("function_", "xray_")) and value
        ]
        return " ".join([entry["level"], entry["message"], *more])
    if any(line.startswith(f"[{level}]") for level in _LEVELS) or any(
        end in line for end in _ENDED
    ):
        return line.splitlines()[0]  # Lambda writes a trace after it
    return ""
