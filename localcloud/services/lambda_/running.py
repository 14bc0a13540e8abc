"""Where the functions of a localcloud run, and what surrounds a function's process."""

from __future__ import annotations

import threading
from typing import Any

import boto3
from moto.awslambda.models import lambda_backends
from moto.sts.models import sts_backends

from localcloud.cloud import Cloud
from localcloud.functions import (
    ExecutionEnvironment,
    Fleet,
    FunctionSpec,
    Outcome,
    load_runtime,
    read_spec,
    unpack_zip,
)
from localcloud.operations import Call

_SESSION_SECONDS = 43_200
_making = threading.Lock()


def find_function(call: Call) -> FunctionSpec:
    """Find the function that a call names: by name or ARN, with a version, alias or none.

    Raises:
        ResourceNotFoundException (moto's): there is none.
    """
    name = call.params["FunctionName"]
    account = name.split(":")[4] if name.startswith("arn:") else call.account
    backend = lambda_backends[account][call.region]
    return read_spec(backend.get_function(name, call.params.get("Qualifier")))


def run_function(cloud: Cloud, spec: FunctionSpec, event: bytes, request_id: str) -> Outcome:
    """Run a function on an event, and wait for how it ends."""

    def start() -> ExecutionEnvironment:
        runtime = load_runtime(spec.runtime)
        home = unpack_zip(spec.code, spec.code_digest, cloud.folder / "functions")
        return ExecutionEnvironment(spec, runtime, home, surroundings(cloud, spec))

    return find_fleet(cloud).invoke(spec, event, request_id, start)


def find_fleet(cloud: Cloud) -> Fleet:
    """Return the environments of a localcloud, which end with it."""
    with _making:
        first = not cloud.states(Fleet)
        fleet = cloud.state(Fleet)
        if first:
            cloud.on_stop(fleet.stop)
        return fleet


def surroundings(cloud: Cloud, spec: FunctionSpec) -> dict[str, str]:
    """The environment variables that come from the function's role and network."""
    session = sts_backends[spec.account]["aws"].assume_role(
        region_name=spec.region,
        role_session_name=spec.name,
        role_arn=spec.role_arn,
        policy=None,
        duration=_SESSION_SECONDS,
        external_id=None,
    )
    return {
        "AWS_ENDPOINT_URL": cloud.endpoint,
        "AWS_ACCESS_KEY_ID": session.access_key_id,
        "AWS_SECRET_ACCESS_KEY": session.secret_access_key,
        "AWS_SESSION_TOKEN": session.session_token,
    }


def open_client(cloud: Cloud, spec: FunctionSpec, service: str) -> Any:
    """Open a client that acts with the function's role."""
    given = surroundings(cloud, spec)
    return boto3.client(
        service,
        region_name=spec.region,
        endpoint_url=given["AWS_ENDPOINT_URL"],
        aws_access_key_id=given["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=given["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=given["AWS_SESSION_TOKEN"],
    )
