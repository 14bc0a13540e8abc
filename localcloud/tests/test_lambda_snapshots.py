"""SnapStart: a published version is initialized once, frozen, and restored for its first event."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from localcloud.functions.runtimes import find_interpreter
from localcloud.services.lambda_ import execution
from localcloud.testing import deploy, invoke, is_running, make_zip, wait_until

_RUNTIME = next((f"python3.{minor}" for minor in (13, 12) if find_interpreter(f"3.{minor}")), None)
_ON = {"ApplyOn": "PublishedVersions"}

pytestmark = pytest.mark.skipif(
    _RUNTIME is None, reason="SnapStart needs Python 3.12 or 3.13, and this machine has neither"
)

_SOURCE = """
import os, time
from pathlib import Path
from snapshot_restore_py import register_after_restore, register_before_snapshot
done = ["init"]
register_before_snapshot(done.append, "before")
register_after_restore(done.append, "after")
while os.path.exists(os.environ["HOLD"]):
    time.sleep(0.05)
Path(os.environ["PIDS"]).write_text(str(os.getpid()))
def handler(event, context):
    import boto3
    done.append("call")
    return {
        "done": done, "pid": os.getpid(), "type": os.environ["AWS_LAMBDA_INITIALIZATION_TYPE"],
        "version": context.function_version, "has_keys": "AWS_ACCESS_KEY_ID" in os.environ,
        "caller": boto3.client("sts").get_caller_identity()["Arn"],
    }
"""
_KEEPING_KEYS = """
import boto3, botocore.session
kept = boto3.Session().get_credentials().get_frozen_credentials()
def handler(event, context):
    own = boto3.client("sts", aws_access_key_id=kept.access_key,
        aws_secret_access_key=kept.secret_key, aws_session_token=kept.token)
    return own.get_caller_identity()["Arn"]
"""
_HOOK_FAILS = """
from snapshot_restore_py import register_after_restore
def fail():
    raise ValueError("no broker")
register_after_restore(fail)
def handler(event, context):
    return event
"""


def _deploy(client, source=_SOURCE, **more):
    # boto3 is imported in the call: on a busy machine that takes longer than three seconds.
    return deploy(client, source, Runtime=_RUNTIME, SnapStart=_ON, **{"Timeout": 60, **more})


def _publish(client, name):
    """Publish a version, and wait for its snapshot."""
    version = client("lambda").publish_version(FunctionName=name)["Version"]
    wait_until("the snapshot is made", lambda: _state(client, name, version) != "Pending")
    return version


def _state(client, name, version):
    return _describe(client, name, Qualifier=version)["State"]


def _describe(client, name, **which):
    return client("lambda").get_function_configuration(FunctionName=name, **which)


def _is_frozen(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_version_is_frozen_after_its_start_and_restored_by_its_first_event(client, tmp_path):
    hold, pids = tmp_path / "hold", tmp_path / "pids"
    hold.touch()
    name = _deploy(client, Environment={"Variables": {"HOLD": str(hold), "PIDS": str(pids)}})

    published = client("lambda").publish_version(FunctionName=name)

    version = published["Version"]
    assert published["SnapStart"] == {**_ON, "OptimizationStatus": "On"}
    assert (published["State"], published["StateReasonCode"]) == ("Pending", "Creating")
    with pytest.raises(ClientError, match="SnapStartNotReadyException"):
        invoke(client, name, Qualifier=version)
    hold.unlink()
    wait_until("the snapshot is made", lambda: _state(client, name, version) == "Active")
    pid = int(pids.read_text())
    assert _is_frozen(pid)

    answer, error = invoke(client, name, Qualifier=version)

    assert error is None
    assert answer.pop("caller").split("/")[-1] == name
    assert answer == {
        "done": ["init", "before", "after", "call"],
        "has_keys": False,
        "pid": pid,
        "type": "snap-start",
        "version": version,
    }
    again, _ = invoke(client, name, Qualifier=version)
    assert again["done"] == ["init", "before", "after", "call", "call"]
    client("lambda").delete_function(FunctionName=name)
    wait_until("the process is gone", lambda: not is_running(pid))


def test_the_newest_code_has_no_snapshot(client, tmp_path):
    variables = {"HOLD": str(tmp_path / "no"), "PIDS": str(tmp_path / "pids")}
    name = _deploy(client, Environment={"Variables": variables})

    answer, _ = invoke(client, name)

    assert (answer["done"], answer["type"]) == (["init", "call"], "on-demand")
    assert _describe(client, name)["SnapStart"] == {**_ON, "OptimizationStatus": "Off"}


def test_an_alias_leads_to_the_snapshot_of_its_version(client, tmp_path):
    variables = {"HOLD": str(tmp_path / "no"), "PIDS": str(tmp_path / "pids")}
    name = _deploy(client, Environment={"Variables": variables})
    version = _publish(client, name)
    client("lambda").create_alias(FunctionName=name, Name="live", FunctionVersion=version)

    answer, _ = invoke(client, name, Qualifier="live")

    assert (answer["done"][:3], answer["version"]) == (["init", "before", "after"], version)


def test_keys_from_before_the_snapshot_expire(client, monkeypatch):
    # Not 1: the process is told whole seconds, and takes no keys that are over.
    monkeypatch.setattr(execution, "_SNAPSHOT_KEY_SECONDS", 2)
    name = _deploy(client, _KEEPING_KEYS)
    version = _publish(client, name)
    time.sleep(2)

    answer, error = invoke(client, name, Qualifier=version)

    assert error == "Unhandled"
    assert "ExpiredToken" in answer["errorMessage"]


def test_a_hook_that_fails(client):
    name = _deploy(client, _HOOK_FAILS)
    version = _publish(client, name)

    with pytest.raises(ClientError, match=r"SnapStartException.*afterRestore"):
        invoke(client, name, Qualifier=version)


def test_code_that_cannot_be_initialized_makes_a_failed_version(client):
    name = _deploy(client, "raise ValueError('no settings')")
    version = _publish(client, name)

    found = _describe(client, name, Qualifier=version)

    assert (found["State"], found["StateReasonCode"]) == ("Failed", "FunctionError")
    assert "ValueError" in found["StateReason"]
    with pytest.raises(ClientError, match="ResourceConflictException"):
        invoke(client, name, Qualifier=version)


def test_the_setting_can_be_changed_for_the_next_version(client):
    name = deploy(client, "def handler(e, c):\n    return e\n", Runtime=_RUNTIME)
    first = client("lambda").publish_version(FunctionName=name)["Version"]

    client("lambda").update_function_configuration(FunctionName=name, SnapStart=_ON)
    second = _publish(client, name)

    assert first != second
    status = [
        _describe(client, name, Qualifier=each)["SnapStart"]["OptimizationStatus"]
        for each in (first, second)
    ]
    assert status == ["Off", "On"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"Runtime": "python3.11"}, "python3.11 is not supported for SnapStart"),
        ({"EphemeralStorage": {"Size": 1024}}, "more than 512 MB of ephemeral storage"),
        ({"SnapStart": {"ApplyOn": "Always"}}, "SnapStart.ApplyOn is Always"),
    ],
)
def test_what_snapstart_does_not_support_is_refused(client, more, expected):
    given = {
        "FunctionName": "not-to-be",
        "Role": "arn:aws:iam::111111111111:role/any",
        "Handler": "app.handler",
        "Code": {"ZipFile": make_zip({"app.py": ""})},
        "Runtime": _RUNTIME,
        "SnapStart": _ON,
    }
    with pytest.raises(ClientError, match=f"InvalidParameterValueException.*{expected}"):
        client("lambda").create_function(**(given | more))
