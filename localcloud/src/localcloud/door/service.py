"""The descriptor of a service: what the rest of localcloud must know before it is called.

    SERVICE = Service(
        "route53",
        endpoint=None,
        throttle=ErrorCode("Throttling", 400),
        resources=by_action,
        operations=("zones",),
        changes_network=True,
    )

stands in `services/<folder>/__init__.py`, which imports nothing heavy. The modules of the folder
that `operations` names are imported at the first call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from moto.core.request import Request

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer
from localcloud.identity.access import PassedRoles, Resources, no_role
from localcloud.identity.key_states import KeyFlaw

_SHOWS_OR_TAKES_AWAY = re.compile(
    "BatchDelete|BatchGet|Delete|Deregister|Describe|Detach|Disassociate|Filter|Get|Head|List|Query"
    "|Remove|Scan|Untag"
)


class ErrorCode(NamedTuple):
    """The code and the HTTP status of an error."""

    code: str
    status: int


class Policies(NamedTuple):
    """Policies that name principals: the error for a role or user that does not exist.

    The message has {} for the role; `stored_by` has the operations that store a policy, each with
    the names that lead to its parameter.
    """

    code: str
    message: str
    stored_by: Mapping[str, tuple[str, ...]]


class LinkedRole(NamedTuple):
    """A service-linked role: the service that it trusts, and its name."""

    service: str
    name: str


@dataclass(frozen=True, slots=True)
class Moto:
    """The changing operations of a service that moto may answer, by their names in one text.

    keeps: what they change is what moto keeps; localcloud reads it where it matters
    ignores: accepted, shown, and without effect
    """

    keeps: str = ""
    ignores: str = ""


def _usual_key_error(flaw: KeyFlaw) -> AwsError:
    return AwsError(f"KMS{flaw.plain}", flaw.says, status=400)


@dataclass(frozen=True, slots=True)
class Service:
    """An AWS service, by its name in boto3.

    endpoint: the end of its name for PrivateLink; None: it has no endpoints
    throttle: its throttling error; None: the usual one of its protocol
    resources: how its calls name their resources for IAM
    operations: the modules of its folder with operations, actions and parts of the status

    These differ from the default for few services:

    signing_names: the names that its requests are signed for; its own
    claims: whether a request is this service's, if another one shares its signing name
    prefix: of its actions in IAM; its name
    actions: operation -> its action in IAM, without the prefix
    denial: its error for a call that IAM denies; the usual one of its protocol
    key_error: its error for a key of KMS that does not work; KMSDisabledException and the like
    passed_roles: the roles that the caller passes to a service
    linked_roles: operation -> the service-linked role that it needs
    keys: operation -> the names that lead to the parameter with the key of what it creates
    policies: its policies that name principals; None: it has none
    contents: operation -> parameters that the call log must not show
    check: refuses a call that the service itself does not allow, beside IAM
    settle: does what follows from a call that succeeded, and may change the answer
    one_at_a_time: whether moto checks and then writes without a lock, so that two conditional
        writes at once might both succeed
    changes_network: whether its calls change what a VPC reaches
    status: its parts of the status
    moto: the changing operations that moto answers; None: moto answers nothing of it
    ignored: operation -> parameters that are accepted and have no effect, in one text
    """

    name: str
    endpoint: str | None
    throttle: ErrorCode | None
    resources: Resources
    operations: tuple[str, ...] = ()
    signing_names: tuple[str, ...] = ()
    claims: Callable[[Request], bool] | None = None
    prefix: str = ""
    actions: Mapping[str, str] = field(default_factory=dict)
    denial: ErrorCode | None = None
    key_error: Callable[[KeyFlaw], AwsError] = _usual_key_error
    passed_roles: PassedRoles = no_role
    linked_roles: Mapping[str, LinkedRole] = field(default_factory=dict)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    policies: Policies | None = None
    contents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    check: Callable[[Call], None] = lambda _call: None
    settle: Callable[[Call, HttpAnswer], HttpAnswer] = lambda _call, answer: answer
    one_at_a_time: bool = False
    changes_network: bool = False
    status: tuple[str, ...] = ()
    moto: Moto | None = field(default_factory=Moto)
    ignored: Mapping[str, str] = field(default_factory=dict)

    def lets_moto(self, operation: str) -> bool:
        """Return whether moto may answer: an operation that shows or takes away, or a named one.

        Whatever else moto knows it only records, and nobody would notice that nothing happens.
        """
        if self.moto is None:
            return False
        named = f"{self.moto.keeps} {self.moto.ignores}".split()
        return operation in named or _SHOWS_OR_TAKES_AWAY.match(operation) is not None

    def list_ignored(self, call: Call) -> list[str]:
        """List the parameters of a call that have no effect."""
        known = self.ignored.get(call.operation, "").split()
        return [name for name in known if call.params.get(name)]

    def action(self, operation: str) -> str:
        """Return the action that IAM has for an operation."""
        return f"{self.prefix or self.name}:{self.actions.get(operation, operation)}"
