"""The subnets and security groups of the consumer's programs that connect to the brokers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Side


@dataclass(frozen=True, slots=True)
class Place:
    """The subnets and security groups of a program."""

    name: str
    subnet_ids: tuple[str, ...]
    group_ids: tuple[str, ...]


def list_places(world: World) -> Iterator[Place]:
    """Yield the consumer functions and the Spark application that are there.

    Raises:
        NotSeenError: the consumer's root was not named, or a call is refused.
    """
    for name, function in list_functions(world):
        network = function["VpcConfig"]
        yield Place(name, tuple(network["SubnetIds"]), tuple(network["SecurityGroupIds"]))
    if application := world.outputs(Side.CONSUMER).get("spark_application"):
        asked = {"applicationId": application}
        found = world.ask(Side.CONSUMER, "emr-serverless", "get_application", **asked)
        if found and (network := found["application"].get("networkConfiguration")):
            groups = tuple(network["securityGroupIds"])
            yield Place("jobs", tuple(network["subnetIds"]), groups)


def list_functions(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the configuration of each consumer function that is there.

    Raises:
        NotSeenError: the consumer's root was not named, or a call is refused.
    """
    for name, made in sorted(world.outputs(Side.CONSUMER)["functions"].items()):
        asked = {"FunctionName": made["name"]}
        if found := world.ask(Side.CONSUMER, "lambda", "get_function_configuration", **asked):
            yield name, found
