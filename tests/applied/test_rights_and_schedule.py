"""Terraform applies rights within IAM's quotas, and a schedule whose events are not repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.identity.permissions import may
from localcloud.testing import deploy
from tests.fixtures.terraform import Terraform
from tools.local_root import copy_infra

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT = "930000000002"
_HERE = Path(__file__).parent
_ROLE = f"arn:aws:iam::{_ACCOUNT}:role/many-tables"


@pytest.fixture
def function(client):
    name = deploy(lambda service, **more: client(service, account=_ACCOUNT, **more))
    return {"arn": f"arn:aws:lambda:eu-central-1:{_ACCOUNT}:function:{name}", "name": name}


def _may(action, number):
    service = action.partition(":")[0]
    start = f"arn:aws:{service}:eu-central-1:{_ACCOUNT}:table/penstock-analytics-table-"
    return may(_ROLE, action, f"{start}{number}")


def test_many_tables_and_a_schedule_are_applied_changed_and_destroyed(
    client, cloud, function, tmp_path
):
    copy_infra(_HERE.parents[1] / "infra/modules", tmp_path / _HERE.name / "modules")
    root = Terraform(_HERE / "rights_and_schedule", tmp_path, cloud.endpoint, _ACCOUNT)
    given = {"function": function, "tables": 100}

    root.apply(**given)
    assert not root.has_changes(**given)
    assert len(root.outputs()["policies"]) > 1
    assert all(
        _may(action, 99) for action in ("dynamodb:PutItem", "glue:GetTable", "dynamodb:GetItem")
    )
    assert not _may("dynamodb:PutItem", 100)
    found = client("lambda", account=_ACCOUNT).get_function_event_invoke_config(
        FunctionName=function["name"]
    )
    assert (found["MaximumRetryAttempts"], found["MaximumEventAgeInSeconds"]) == (0, 300)

    root.apply(**given | {"tables": 101})
    assert _may("dynamodb:PutItem", 100)
    root.destroy(**given)
