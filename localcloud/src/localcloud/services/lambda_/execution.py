"""The execution of functions, and the environment of their processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

from moto.awslambda.exceptions import UnknownFunctionException
from moto.awslambda.models import lambda_backends

from localcloud.authorities import Authorities
from localcloud.cloud import Cloud
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.errors import LocalcloudError, MissingHopError
from localcloud.functions import (
    ExecutionEnvironment,
    Fleet,
    FunctionSpec,
    Outcome,
    load_runtime,
    read_spec,
    unpack_zip,
)
from localcloud.identity.credentials import SessionKey, SessionKeys, credentials_for_role
from localcloud.identity.permissions import may
from localcloud.metrics import Metric
from localcloud.network import Nodes, find_path, find_source, load_network

_SESSION_SECONDS = 43_200
_SNAPSHOT_KEY_SECONDS = 5
# Lambda renews a poller's keys; nobody can do so in a running process, so these do not expire.
_POLLER_SECONDS = 10 * 365 * 86_400
# Lambda Developer Guide, "Self-managed Apache Kafka": what a role needs for a poller in a VPC.
_POLLER_ACTIONS = (
    "CreateNetworkInterface",
    "DeleteNetworkInterface",
    "DescribeNetworkInterfaces",
    "DescribeSecurityGroups",
    "DescribeSubnets",
    "DescribeVpcs",
)
_KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_ACCESS = "SourceAccessConfigurations"
_making = threading.Lock()


def find_function(call: Call) -> FunctionSpec:
    """Return the function that a call names: by name or ARN, with a version, alias or neither.

    Raises:
        AwsError: ResourceNotFoundException if the function does not exist.
    """
    name = call.params["FunctionName"]
    account = name.split(":")[4] if name.startswith("arn:") else call.account
    backend = lambda_backends[account][call.region]
    try:
        return read_spec(backend.get_function(name, call.params.get("Qualifier")))
    except UnknownFunctionException as error:
        raise AwsError("ResourceNotFoundException", error.message) from error


def run_function(cloud: Cloud, spec: FunctionSpec, event: bytes, request_id: str) -> Outcome:
    """Run a function on an event, count it in Lambda's metrics, and return its outcome."""

    try:
        outcome = find_fleet(cloud).invoke(
            spec, event, request_id, partial(_start_environment, cloud, spec)
        )
    except AwsError as error:
        if error.code == "TooManyRequestsException":
            _count(spec, "Throttles", 1)
        raise
    _count(spec, "Invocations", 1)
    _count(spec, "Errors", 1 if outcome.error else 0)
    return outcome


def take_snapshot(cloud: Cloud, spec: FunctionSpec) -> None:
    """Initialize a published version, and freeze it for its first invocation."""
    find_fleet(cloud).take_snapshot(spec, partial(_start_environment, cloud, spec))


def _start_environment(cloud: Cloud, spec: FunctionSpec) -> ExecutionEnvironment:
    runtime = load_runtime(spec.runtime)
    home = unpack_zip(spec.code, spec.code_digest, cloud.folder / "functions")
    variables = function_variables(cloud, spec)
    if not spec.has_snapshot:
        return ExecutionEnvironment(spec, runtime, home, variables)
    # With SnapStart, a process loads its keys, whose end it knows, instead of keeping variables.
    kept = {name: value for name, value in variables.items() if name not in _KEY_VARIABLES}
    return ExecutionEnvironment(spec, runtime, home, kept, partial(_load_keys, cloud, spec))


def _load_keys(cloud: Cloud, spec: FunctionSpec, is_restored: bool) -> dict[str, str]:
    """Return new keys of the role, as the endpoint of container credentials answers them.

    A snapshot may be restored days after its keys were loaded, so these soon expire.
    """
    key = _make_key(cloud, spec, _SESSION_SECONDS if is_restored else _SNAPSHOT_KEY_SECONDS)
    return {
        "AccessKeyId": key.access_key,
        "SecretAccessKey": key.secret_key,
        "Token": key.session_token,
        "Expiration": key.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _make_key(cloud: Cloud, spec: FunctionSpec, seconds: float) -> SessionKey:
    return cloud.state(SessionKeys).hand_to(
        credentials_for_role(cloud, spec.role_arn, spec.name, seconds),
        spec.unqualified_arn,
    )


def _count(spec: FunctionSpec, name: str, value: float) -> None:
    dimensions = {"FunctionName": spec.name}
    Metric(spec.account, spec.region, "AWS/Lambda", name, dimensions).record(value)


def find_fleet(cloud: Cloud) -> Fleet:
    """Return the environments of a localcloud, which end with it."""
    with _making:
        first = not cloud.states(Fleet)
        fleet = cloud.state(Fleet)
        if first:
            cloud.on_stop(fleet.stop)
        return fleet


def function_variables(cloud: Cloud, spec: FunctionSpec) -> dict[str, str]:
    """Return the environment variables of the function's role and network.

    A process trusts the authorities of this localcloud instead of Amazon's, unless the function
    sets its own, as on AWS.
    """
    key = _make_key(cloud, spec, _SESSION_SECONDS)
    authorities = {"SSL_CERT_FILE": str(cloud.state(Authorities).write_bundle(cloud.folder))}
    return {
        **{name: path for name, path in authorities.items() if name not in dict(spec.variables)},
        **key.variables,
        **_network_variables(cloud, spec.subnets, spec.security_groups),
    }


def poller_variables(cloud: Cloud, record: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return the variables of a mapping's poller, and the authorities that it trusts by default.

    It uses the function's role, and the VPC of the mapping's own access settings.
    """
    _, _, _, region, account, *_ = record["FunctionArn"].split(":")
    spec = read_spec(lambda_backends[account][region].get_function(record["FunctionArn"]))
    place = place_of_poller(record)
    if place[0]:
        _check_place(spec.role_arn)
    key = credentials_for_role(
        cloud, spec.role_arn, f"mapping-{record['UUID']}", seconds=_POLLER_SECONDS
    )
    variables = {
        "PATH": os.defpath,
        "AWS_DEFAULT_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
        **key.variables,
        **_network_variables(cloud, *place),
    }
    return variables, [str(file) for file in cloud.state(Authorities).files()]


def _check_place(role_arn: str) -> None:
    missing = [
        f"ec2:{action}" for action in _POLLER_ACTIONS if not may(role_arn, f"ec2:{action}", "*")
    ]
    if missing:
        raise AwsError(
            "InvalidParameterValueException",
            f"the role {role_arn} lacks {', '.join(missing)}, which a mapping in a VPC needs",
        )


def name_missing_hop(
    cloud: Cloud, record: dict[str, Any], report: dict[str, str]
) -> dict[str, str]:
    """Add the missing hop to a poller's problem; no Kafka client can know it."""
    problem = report.get("result", "")
    if not problem.startswith("PROBLEM: "):
        return report
    try:
        source = find_source(*place_of_poller(record))
        for server in record["SelfManagedEventSource"]["Endpoints"]["KAFKA_BOOTSTRAP_SERVERS"]:
            host, _, port = server.rpartition(":")
            if source is not None:
                find_path(cloud.state(Nodes), source, host, int(port))
    except MissingHopError as error:
        if str(error) not in problem:
            return {**report, "result": f"{problem}; {error}"}
    return report


def place_of_poller(record: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the subnets and security groups of a mapping's access settings."""
    access = [(one["Type"], one["URI"].split(":")[-1]) for one in record[_ACCESS]]
    return (
        [identity for kind, identity in access if kind == "VPC_SUBNET"],
        [identity for kind, identity in access if kind == "VPC_SECURITY_GROUP"],
    )


def open_client(cloud: Cloud, spec: FunctionSpec, service: str) -> Any:
    """Open a client with the function's role, as Lambda does."""
    key = credentials_for_role(cloud, spec.role_arn, spec.name, _SESSION_SECONDS)
    return key.open_client(service, spec.region, cloud.endpoint)


def _network_variables(
    cloud: Cloud, subnets: Sequence[str], groups: Sequence[str]
) -> dict[str, str]:
    """Return the variables that limit a process to its VPC, or to this machine without one."""
    try:
        return load_network(cloud).environment_for(find_source(subnets, groups))
    except LocalcloudError as error:
        raise AwsError("InvalidParameterValueException", str(error)) from error
