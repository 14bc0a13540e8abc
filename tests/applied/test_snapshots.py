"""Terraform publishes a function with SnapStart, and its alias leads to the newest snapshot.

A large event that the function fails on is in the bucket, whoever it was sent to.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from localcloud.testing import invoke, make_zip, wait_until
from tests.fixtures.snapshots import SNAPSHOT_PYTHON, needs_snapshots
from tests.fixtures.terraform import Terraform
from tools.lambda_packages import Target
from tools.local_root import copy_infra

_ACCOUNT = "930000000021"
_HERE = Path(__file__).parent
_SOURCE = """
import os
def lambda_handler(event, context):
    if event and "large" in event:
        raise ValueError("no")
    return [context.function_version, os.environ["AWS_LAMBDA_INITIALIZATION_TYPE"], "{}"]
"""

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.timeout(900),
    needs_snapshots,
]


def _read_failures(client, bucket, number):
    s3 = client("s3", account=_ACCOUNT)
    start = "aws/lambda/async/penstock-snapshots/"
    found = s3.list_objects_v2(Bucket=bucket, Prefix=start).get("Contents", [])
    if len(found) < number:
        return None
    return [json.load(s3.get_object(Bucket=bucket, Key=each["Key"])["Body"]) for each in found]


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
    large = {"large": "x" * 262_144}
    for name in (arn, arn.removesuffix(":live")):
        client("lambda", account=_ACCOUNT).invoke(
            FunctionName=name, InvocationType="Event", Payload=json.dumps(large)
        )
    kept = wait_until("both are kept", partial(_read_failures, client, root.outputs()["bucket"], 2))
    assert [each["requestPayload"] for each in kept] == [large, large]
    assert answers == [(["1", "snap-start", "old"], None), (["2", "snap-start", "new"], None)]
    root.destroy(**given)
    assert client("lambda", account=_ACCOUNT).list_functions()["Functions"] == []
