"""Changes of zones, which are in effect when they are answered.

Terraform's provider would still wait 10 to 29 seconds for each, by `GetChange`, unless the answer
has no `ChangeInfo`: Terraform gets none, other clients do. That its deployer may call `GetChange`
is checked with the change itself.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from localcloud.door.operations import Call, HttpAnswer

CHANGE_ID: Final = "/change/C1PA6795UKMFR9"
_CHANGE_INFO = re.compile(rb"<ChangeInfo>.*</ChangeInfo>", re.DOTALL)
# The provider waits after each of these: aws_route53_zone, _record and _zone_association.
_AWAITED = {
    "AssociateVPCWithHostedZone",
    "ChangeResourceRecordSets",
    "CreateHostedZone",
    "DeleteHostedZone",
    "DisassociateVPCFromHostedZone",
}


def awaits_change(call: Call) -> bool:
    """Return whether the caller would wait on AWS until the change is in effect."""
    return "Terraform" in call.agent and call.operation in _AWAITED


def describe_change(call: Call) -> dict[str, Any] | None:
    """Return the change of a call; None for those who would wait for it."""
    if awaits_change(call):
        return None
    return {"Id": CHANGE_ID, "Status": "INSYNC", "SubmittedAt": datetime.now(UTC)}


def forward(call: Call) -> HttpAnswer:
    """Let moto answer, without the change for those who would wait for it."""
    answer = call.forward()
    if not awaits_change(call):
        return answer
    return replace(answer, body=_CHANGE_INFO.sub(b"", answer.body))
