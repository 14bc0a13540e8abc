"""The functions of both accounts, their event source mappings and their concurrency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side

_PASSES = {"Enabled", "Enabling", "Creating", "Updating"}
_PROBLEM = "PROBLEM"
_INTERFACES = "L-9FEE3D26"  # the quota "Elastic network interfaces per VPC"


def look_at_producers_functions(world: World) -> Iterator[Seen | Break]:
    """Check the functions of the producer."""
    names = world.outputs(Side.PRODUCER)["functions"].values()
    yield from _check_functions(world, Side.PRODUCER, sorted(names))


def look_at_functions(world: World) -> Iterator[Seen | Break]:
    """Check the consumer functions."""
    made = world.outputs(Side.CONSUMER)["functions"].values()
    yield from _check_functions(world, Side.CONSUMER, sorted(each["name"] for each in made))


def look_at_mappings(world: World) -> Iterator[Seen | Break]:
    """Check that the mapping of each topic is enabled, and how its last batch went."""
    for name, made in sorted(world.outputs(Side.CONSUMER)["functions"].items()):
        for topic, uuid in sorted(made["mappings"].items()):
            asked = {"UUID": uuid}
            found = world.ask(Side.CONSUMER, "lambda", "get_event_source_mapping", **asked)
            yield _judge_mapping(f"{topic} to {name}", uuid, found)


def look_at_concurrency(world: World) -> Iterator[Seen | Break]:
    """Check that the consumer's account has concurrency left for its functions."""
    functions = world.outputs(Side.CONSUMER)["functions"]
    answer = world.ask(Side.CONSUMER, "lambda", "get_account_settings")
    left = answer["AccountLimit"]["UnreservedConcurrentExecutions"]
    if left < len(functions):
        yield Break(
            "concurrency-full",
            "functions",
            f"{left} functions may run at once without a reservation",
            f"at least {len(functions)}",
            "aws service-quotas request-service-quota-increase --service-code lambda "
            "--quota-code L-B99A9384 --desired-value 1000",
        )
    yield Seen(f"{left} functions may run at once")


def look_at_interfaces(world: World) -> Iterator[Seen | Break]:
    """Check that Lambda may make network interfaces in the consumer's VPC.

    It makes one for each subnet and set of security groups that functions have.

    Raises:
        NotSeenError: Service Quotas does not tell how many it may make.
    """
    vpc_id = world.outputs(Side.CONSUMER)["platform"]["network"]["vpc_id"]
    filters = [
        {"Name": name, "Values": [value]}
        for name, value in (("vpc-id", vpc_id), ("interface-type", "lambda"))
    ]
    answer = world.ask(Side.CONSUMER, "ec2", "describe_network_interfaces", Filters=filters)
    asked = {"ServiceCode": "lambda", "QuotaCode": _INTERFACES}
    value = world.ask(Side.CONSUMER, "service-quotas", "get_service_quota", **asked)
    value = value or world.ask(
        Side.CONSUMER, "service-quotas", "get_aws_default_service_quota", **asked
    )
    if value is None:
        raise NotSeenError(f"Service Quotas does not tell the quota {_INTERFACES} of lambda")
    made, most = len(answer["NetworkInterfaces"]), int(value["Quota"]["Value"])
    if made >= most:
        yield Break(
            "interfaces-full",
            vpc_id,
            f"Lambda has {made} network interfaces there, and may have {most}",
            "fewer than the quota",
            "aws service-quotas request-service-quota-increase --service-code lambda "
            f"--quota-code {_INTERFACES} --desired-value {2 * most or 250}",
        )
    yield Seen(f"{made} of {most} network interfaces of functions in {vpc_id}")


def _check_functions(world: World, side: Side, names: list[str]) -> Iterator[Seen | Break]:
    for name in names:
        asked = {"FunctionName": name}
        found = world.ask(side, "lambda", "get_function_configuration", **asked)
        if found is None:
            yield Break("function-not-active", name, "no such function", "one")
            continue
        if found.get("State", "Active") not in {"Active", "Inactive"}:
            yield Break(
                "function-not-active",
                name,
                f"it is {found['State']}: {found.get('StateReason', 'no reason is told')}",
                "Active",
            )
        kept = world.ask(side, "lambda", "get_function_concurrency", **asked) or {}
        if kept.get("ReservedConcurrentExecutions") == 0:
            yield Break(
                "function-stopped",
                name,
                "its reserved concurrency is 0, so it does not run",
                "no reservation, or one above 0",
                f"aws lambda delete-function-concurrency --function-name {name}",
            )
    yield Seen(", ".join(names))


def _judge_mapping(about: str, uuid: str, found: Any) -> Seen | Break:
    if found is None:
        return Break("mapping-off", about, "no mapping", "one for each topic")
    if found["State"] not in _PASSES:
        return Break(
            "mapping-off",
            about,
            f"the mapping is {found['State']}",
            "Enabled",
            f"aws lambda update-event-source-mapping --uuid {uuid} --enabled",
        )
    said = found.get("LastProcessingResult", "")
    if said.startswith(_PROBLEM):
        return Break(
            "mapping-problem", about, said, "OK", "look at the log of the function", is_symptom=True
        )
    return Seen(f"{about}: {found['State']}, {said or 'nothing was read yet'}")
