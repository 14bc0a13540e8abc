"""Every change that localcloud makes in moto and every private name it uses, with the reason.

moto is pinned. Each entry records the expected signature, and `repair_moto` compares before it
changes anything: after an upgrade localcloud stops at its start with a message, instead of
answering wrongly later.
"""

from __future__ import annotations

import base64
import copy
import functools
import inspect
import json
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from moto.core.errors import COMMON_ERROR_CODES
from moto.core.responses import BaseResponse
from moto.ec2.models import ec2_backends
from moto.ec2.models.security_groups import SecurityGroupRule
from moto.elbv2 import models as elbv2_models
from moto.elbv2.utils import make_arn_for_load_balancer
from moto.emr.responses import ElasticMapReduceResponse
from moto.iam.access_control import PermissionResult
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend
from moto.kms import utils as kms_utils
from moto.moto_server import werkzeug_app
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.s3.models import FakeBucket, FakeDeleteMarker
from moto.s3tables.models import s3tables_backends
from moto.ssm.models import Parameter

from localcloud.errors import MotoChangedError
from localcloud.identity.policies import (
    Principal,
    Request,
    Verdict,
    judge_resource,
    read_statements,
)

# The kind of the load balancer that is being created: app or net.
load_balancer_kind: ContextVar[str] = ContextVar("load_balancer_kind", default="app")

_ANYBODY = Principal("", "")
_PARTITION = "aws"  # localcloud has no other; moto calls it the region of IAM
_make_rule = SecurityGroupRule.__init__
_show_parameter = Parameter.response_object
_rule_signature = inspect.signature(_make_rule)


def _init_rule(rule: SecurityGroupRule, *args: Any, **kwargs: Any) -> None:
    """Store the description of a rule for a group or a prefix list where moto reads it."""
    _make_rule(rule, *args, **kwargs)
    given = _rule_signature.bind(rule, *args, **kwargs).arguments
    for target in (given.get("source_group"), given.get("prefix_list_id")):
        if target and "Description" in target:
            rule.ip_range = {"Description": target["Description"]}


def _make_arn(*args: Any, **kwargs: Any) -> str:
    """Write the kind of load balancer into its ARN; moto always writes app."""
    arn: str = make_arn_for_load_balancer(*args, **kwargs)
    return arn.replace(":loadbalancer/app/", f":loadbalancer/{load_balancer_kind.get()}/")


def _dispose_marker(_marker: FakeDeleteMarker, _garbage: bool = False) -> None:
    """Do nothing: a delete marker has no content.

    Without versioning, deleting a key disposes of all its versions, and moto
    forgot that markers are among them: a bucket with markers could not be emptied.
    """


def _get_permission(bucket: FakeBucket, action: str, resource: str) -> Any:
    """Return whether a bucket's policy allows anonymous access.

    The gateway has already authorized a signed call, with its conditions; moto would repeat that
    without them, and a bucket that refuses plain HTTP would refuse everybody.
    """
    request = Request(action, resource, {"aws:SecureTransport": "true"})
    allowed = judge_resource(read_statements(bucket.policy), request, _ANYBODY) is Verdict.ALLOWED
    return PermissionResult.PERMITTED if allowed else PermissionResult.NEUTRAL


def _seal_parameter(
    parameter: Parameter, decrypt: bool = False, region: str | None = None
) -> dict[str, Any]:
    """Show an encrypted value that is not decrypted as base64; moto shows it readably."""
    shown = _show_parameter(parameter, decrypt, region)
    if parameter.parameter_type == "SecureString" and not decrypt:
        shown["Value"] = base64.b64encode(shown["Value"].encode()).decode()
    return shown


@functools.cache
def _read_aws_policies() -> list[AWSManagedPolicy]:
    data = json.loads(aws_managed_policies_data).items()
    return [AWSManagedPolicy.from_data(name, "", _PARTITION, each) for name, each in data]


def _make_aws_policies(backend: IAMBackend) -> list[AWSManagedPolicy]:
    """Return the managed policies of AWS, such as AWSLambdaVPCAccessExecutionRole, for an account.

    moto reads 2 MB of JSON for each account and each of six partitions: a second of CPU time for
    each account, and again for each `mock_aws`.
    """
    if backend.region_name != _PARTITION:
        return []
    policies = [copy.copy(each) for each in _read_aws_policies()]  # each counts its attachments
    for policy in policies:
        policy.account_id = backend.account_id
    return policies


@dataclass(frozen=True, slots=True)
class Repair:
    """A name of moto: its parameters or type as `describe` writes them, and its replacement.

    Without a replacement it is only used.
    """

    owner: Any
    name: str
    expected: str
    replacement: Any = None

    def check(self) -> None:
        """Compare the name with the installed moto.

        Raises:
            MotoChangedError: the name has other parameters, is missing or is new.
        """
        found = describe(getattr(self.owner, self.name, None))
        if found != self.expected:
            raise MotoChangedError(
                f"moto {version('moto')} has {found} as {self.owner.__name__}.{self.name}, expected"
                f" {self.expected}: localcloud/moto_repairs.py was written for that"
            )


def describe(found: Any) -> str:
    """Describe a function by its parameters, another value by its type, None as `nothing`."""
    if found is None:
        return "nothing"
    if not callable(found):
        return type(found).__name__
    return f"({', '.join(inspect.signature(found).parameters)})"


REPAIRS = (
    # Its list of Regions is older than those of S3 Tables.
    Repair(s3tables_backends, "_additional_regions", "list", list(ec2_backends["0" * 12].regions)),
    Repair(
        SecurityGroupRule,
        "__init__",
        "(self, ec2_backend, ip_protocol, group_id, from_port, to_port, ip_range, source_group, "
        "prefix_list_id, is_egress, tags)",
        _init_rule,
    ),
    Repair(
        elbv2_models,
        "make_arn_for_load_balancer",
        "(account_id, lb_id, name, region_name)",
        _make_arn,
    ),
    Repair(FakeDeleteMarker, "dispose", "nothing", _dispose_marker),
    Repair(FakeBucket, "get_permission", "(self, action, resource)", _get_permission),
    Repair(Parameter, "response_object", "(self, decrypt, region)", _seal_parameter),
    # moto takes the region from the host name, and us-east-1 if the name has no region.
    Repair(
        ElasticMapReduceResponse,
        "get_region_from_url",
        "(self, request, full_url)",
        BaseResponse.get_region_from_url,
    ),
    Repair(kms_utils, "_deserialize_ciphertext_blob", "(ciphertext_blob)"),
    Repair(IAMBackend, "_init_aws_policies", "(self)", _make_aws_policies),
    # It lists moto's folders for each call, and compares the host with some 180 patterns.
    Repair(
        DomainDispatcherApplication,
        "get_backend_for_host",
        "(self, host)",
        functools.lru_cache(DomainDispatcherApplication.get_backend_for_host),
    ),
    # It would accept every web page; the gateway refuses them (door/web_pages.py).
    Repair(werkzeug_app, "DISABLE_GLOBAL_CORS", "bool", True),
)


@functools.cache
def repair_moto() -> None:
    """Check every repair, then apply them all, once in a process.

    Raises:
        MotoChangedError: the installed moto differs from the expected one.
    """
    for repair in REPAIRS:
        repair.check()
    for repair in REPAIRS:
        if repair.replacement is not None:
            setattr(repair.owner, repair.name, repair.replacement)


def announce_error_code(code: str) -> None:
    """Add an error code to moto's list; AWS's models omit most codes."""
    if code not in COMMON_ERROR_CODES:
        COMMON_ERROR_CODES.append(code)


def read_vpc_config(function: Any) -> dict[str, Any]:
    """Return the VpcConfig of moto's record of a function; its public property invents a VPC."""
    config: dict[str, Any] = function._vpc_config or {}
    return config


def read_key_of_ciphertext(blob: bytes) -> str | None:
    """Return the key of a ciphertext, None if it is not a ciphertext of moto."""
    try:
        return str(kms_utils._deserialize_ciphertext_blob(ciphertext_blob=blob).key_id)
    except Exception:  # any error of moto: Decrypt itself reports the problem
        return None
