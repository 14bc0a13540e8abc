"""Every change that localcloud makes in moto and every private name it uses, with the reason.

moto is pinned. Each entry records the expected signature, which is compared before anything is
changed: a module of moto when it is imported, as EC2's alone takes half a second and 80 MB, and all
of them at the start of localcloud if another moto is installed. It then stops with a message,
instead of answering wrongly later.
"""

from __future__ import annotations

import base64
import copy
import functools
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import version
from types import ModuleType
from typing import Any

from boto3 import Session
from moto.core.errors import COMMON_ERROR_CODES
from moto.core.responses import BaseResponse
from moto.iam.access_control import PermissionResult
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend
from moto.kms import utils as kms_utils

from localcloud.errors import MotoChangedError
from localcloud.identity.policies import (
    Principal,
    Request,
    Verdict,
    judge_resource,
    read_statements,
)

CHECKED_VERSION = "5.2.5"  # of moto, whose signatures are those below
# The kind of the load balancer that is being created: app or net.
load_balancer_kind: ContextVar[str] = ContextVar("load_balancer_kind", default="app")

_ANYBODY = Principal("", "")
_PARTITION = "aws"  # localcloud has no other; moto calls it the region of IAM


def _describe_rules(make_rule: Callable[..., None]) -> Callable[..., None]:
    """Store the description of a rule for a group or a prefix list where moto reads it."""
    signature = inspect.signature(make_rule)

    def __init__(rule: Any, *args: Any, **kwargs: Any) -> None:
        make_rule(rule, *args, **kwargs)
        given = signature.bind(rule, *args, **kwargs).arguments
        for target in (given.get("source_group"), given.get("prefix_list_id")):
            if target and "Description" in target:
                rule.ip_range = {"Description": target["Description"]}

    return __init__


def _name_kind(make_arn: Callable[..., str]) -> Callable[..., str]:
    """Write the kind of load balancer into its ARN; moto always writes app."""

    def make_arn_for_load_balancer(*args: Any, **kwargs: Any) -> str:
        arn = make_arn(*args, **kwargs)
        return arn.replace(":loadbalancer/app/", f":loadbalancer/{load_balancer_kind.get()}/")

    return make_arn_for_load_balancer


def _dispose_marker(_marker: Any, _garbage: bool = False) -> None:
    """Do nothing: a delete marker has no content.

    Without versioning, deleting a key disposes of all its versions, and moto
    forgot that markers are among them: a bucket with markers could not be emptied.
    """


def _get_permission(bucket: Any, action: str, resource: str) -> Any:
    """Return whether a bucket's policy allows anonymous access.

    The gateway has already authorized a signed call, with its conditions; moto would repeat that
    without them, and a bucket that refuses plain HTTP would refuse everybody.
    """
    request = Request(action, resource, {"aws:SecureTransport": "true"})
    allowed = judge_resource(read_statements(bucket.policy), request, _ANYBODY) is Verdict.ALLOWED
    stored = bucket.keys.get(resource.partition("/")[2])
    if str(getattr(stored, "encryption", "")).startswith("aws:kms"):
        allowed = False  # nobody's key: S3 User Guide, "Using server-side encryption with AWS KMS"
    return PermissionResult.PERMITTED if allowed else PermissionResult.NEUTRAL


def _seal(show_parameter: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Show an encrypted value that is not decrypted as base64; moto shows it readably."""

    def response_object(
        parameter: Any, decrypt: bool = False, region: str | None = None
    ) -> dict[str, Any]:
        shown = show_parameter(parameter, decrypt, region)
        if parameter.parameter_type == "SecureString" and not decrypt:
            shown["Value"] = base64.b64encode(shown["Value"].encode()).decode()
        return shown

    return response_object


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


def _list_regions(_original: list[str]) -> list[str]:
    """List the Regions of botocore, whose file takes 20 MB: when S3 Tables are called."""
    return Session().get_available_regions("ec2")


def _read_iso(parse: Callable[[Any], datetime]) -> Callable[[Any], datetime]:
    """Read a time of moto without dateutil, which takes 40 % of the time that a listing takes."""

    def parse_to_aware_datetime(value: Any) -> datetime:
        if isinstance(value, str) and value.endswith("Z"):
            with suppress(ValueError):
                return datetime.fromisoformat(value)
        return parse(value)

    return parse_to_aware_datetime


def _share_unused(make_key: Callable[[str], Any]) -> Callable[[str], Any]:
    """Make one RSA key for all symmetric keys, which use none: moto takes 50 ms for each."""
    shared = functools.cache(make_key)

    def generate_private_key(key_spec: str) -> Any:
        return (shared if key_spec == "SYMMETRIC_DEFAULT" else make_key)(key_spec)

    return generate_private_key


def _put(replacement: Any) -> Callable[[Any], Any]:
    """Return what puts a replacement in the place of any original."""
    return lambda _original: replacement


@dataclass(frozen=True, slots=True)
class Repair:
    """A name in a module of moto: its parameters or type as `describe` writes them, and its change.

    `change` makes the replacement from the original; without it the name is only used.
    """

    module: str
    name: str
    expected: str
    change: Callable[[Any], Any] | None = None

    def apply(self) -> None:
        """Compare the name with the installed moto, and replace it.

        Raises:
            MotoChangedError: the name has other parameters, is missing or is new.
        """
        *owners, last = self.name.split(".")
        owner = functools.reduce(getattr, owners, sys.modules[self.module])
        original = getattr(owner, last, None)
        found = describe(original)
        if found != self.expected:
            raise MotoChangedError(
                f"moto {version('moto')} has {found} as {self.name} of {self.module}, expected "
                f"{self.expected}: localcloud/moto_repairs.py was written for that"
            )
        if self.change is not None:
            setattr(owner, last, self.change(original))


def describe(found: Any) -> str:
    """Describe a function by its parameters, another value by its type, None as `nothing`."""
    if found is None:
        return "nothing"
    if not callable(found):
        return type(found).__name__
    return f"({', '.join(inspect.signature(found).parameters)})"


REPAIRS = (
    # Its list of Regions is older than those of S3 Tables.
    Repair(
        "moto.s3tables.models",
        "s3tables_backends._additional_regions",
        "list",
        _list_regions,
    ),
    Repair(
        "moto.ec2.models.security_groups",
        "SecurityGroupRule.__init__",
        "(self, ec2_backend, ip_protocol, group_id, from_port, to_port, ip_range, source_group, "
        "prefix_list_id, is_egress, tags)",
        _describe_rules,
    ),
    Repair(
        "moto.elbv2.models",
        "make_arn_for_load_balancer",
        "(account_id, lb_id, name, region_name)",
        _name_kind,
    ),
    Repair("moto.s3.models", "FakeDeleteMarker.dispose", "nothing", _put(_dispose_marker)),
    Repair(
        "moto.s3.models",
        "FakeBucket.get_permission",
        "(self, action, resource)",
        _put(_get_permission),
    ),
    Repair("moto.ssm.models", "Parameter.response_object", "(self, decrypt, region)", _seal),
    # moto takes the region from the host name, and us-east-1 if the name has no region.
    Repair(
        "moto.emr.responses",
        "ElasticMapReduceResponse.get_region_from_url",
        "(self, request, full_url)",
        _put(BaseResponse.get_region_from_url),
    ),
    Repair("moto.kms.utils", "_deserialize_ciphertext_blob", "(ciphertext_blob)"),
    Repair("moto.iam.models", "IAMBackend._init_aws_policies", "(self)", _put(_make_aws_policies)),
    # It lists moto's folders for each call, and compares the host with some 180 patterns.
    Repair(
        "moto.moto_server.werkzeug_app",
        "DomainDispatcherApplication.get_backend_for_host",
        "(self, host)",
        functools.lru_cache,
    ),
    # It goes through the methods of a class for each call: EC2's take half a millisecond.
    Repair("moto.core.responses", "method_names_from_class", "(clazz)", functools.cache),
    Repair("moto.core.serialize", "parse_to_aware_datetime", "(value)", _read_iso),
    Repair("moto.kms.models", "generate_private_key", "(key_spec)", _share_unused),
    # It would accept every web page; the gateway refuses them (door/web_pages.py).
    Repair("moto.moto_server.werkzeug_app", "DISABLE_GLOBAL_CORS", "bool", _put(True)),
)


@functools.cache
def repair_moto() -> None:
    """Repair what is imported, and the rest when it is; once in a process.

    Raises:
        MotoChangedError: the installed moto differs from the expected one.
    """
    names = {repair.module for repair in REPAIRS}
    sys.meta_path.insert(0, _RepairingFinder(names - sys.modules.keys()))
    for name in names & sys.modules.keys():
        _repair(name)
    if version("moto") != CHECKED_VERSION:
        for name in names:
            importlib.import_module(name)


def _repair(module: str) -> None:
    for repair in REPAIRS:
        if repair.module == module:
            repair.apply()


class _RepairingFinder(MetaPathFinder):
    """Finds modules of moto like Python does, and repairs each after it was imported."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module to repair, None for others."""
        if fullname not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _repair(fullname)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


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
