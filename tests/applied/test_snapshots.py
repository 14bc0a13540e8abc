"""Terraform publishes a function with SnapStart, and its alias leads to the newest snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.testing import invoke, make_zip
from tests.fixtures.snapshots import SNAPSHOT_PYTHON, needs_snapshots
from tests.fixtures.terraform import Terraform
from tools.lambda_packages import Target
from tools.local_root import copy_infra

_ACCOUNT = "930000000021"
_HERE = Path(__file__).parent
_SOURCE = """
import os
def lambda_handler(event, context):
    return [context.function_version, os.environ["AWS_LAMBDA_INITIALIZATION_TYPE"], "{}"]
"""

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.timeout(900),
    needs_snapshots,
]


def test_an_alias_leads_to_the_version_of_the_last_apply(client, cloud, tmp_path):
    copy_infra(_HERE.parents[1] / "infra/modules", tmp_path / _HERE.name / "modules")
    root = Terraform(_HERE / "snapshots", tmp_path, cloud.endpoint, _ACCOUNT)
    package = tmp_path / "function.zip"
    given = {
        "architecture": Target.of_host().arch,
        "package": str(package),
        "python_version": SNAPSHOT_PYTHON,
    }
    answers = []
    for word in ("old", "new"):
        package.write_bytes(make_zip({"handler.py": _SOURCE.format(word)}))
        root.apply(**given)
        arn = root.outputs()["invoked_arn"]
        answers.append(invoke(lambda name: client(name, account=_ACCOUNT), arn))

    assert not root.has_changes(**given)
    assert arn.endswith(":function:penstock-snapshots:live")
    assert answers == [(["1", "snap-start", "old"], None), (["2", "snap-start", "new"], None)]
    root.destroy(**given)
    assert client("lambda", account=_ACCOUNT).list_functions()["Functions"] == []
