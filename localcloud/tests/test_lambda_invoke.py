"""Functions as they are seen from outside: real zips, invoked through the API."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from localcloud.testing import (
    ECHO,
    deploy,
    error_of,
    invoke,
    is_running,
    make_zip,
    wait_until,
)
from tests.refusals import refusal

_COUNTING = """
import os
calls = 0
def handler(event, context):
    global calls
    calls += 1
    return {"calls": calls, "pid": os.getpid()}
"""

_MEETING = """
import os, tempfile, time
def handler(event, context):
    tempfile.mkstemp(dir=event["place"])
    while len(os.listdir(event["place"])) < event["guests"]:
        time.sleep(0.02)
    return os.getpid()
"""
_WAITING = """
import os, time
def handler(event, context):
    if isinstance(event, str):
        open(event + "-begun", "w").close()
        while not os.path.exists(event):
            time.sleep(0.02)
    return event
"""


def test_the_answer_is_what_the_handler_returns(client):
    name = deploy(client)
    assert invoke(client, name, {"temperature": 30.5, "names": ["ü", None]}) == (
        {"temperature": 30.5, "names": ["ü", None]},
        None,
    )


def test_a_handler_finds_its_environment_and_its_role(client):
    source = """
import os, boto3
def handler(event, context):
    who = boto3.client("sts").get_caller_identity()["Arn"]
    names = ["COLOUR", "AWS_REGION", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
    return [who, context.memory_limit_in_mb, context.invoked_function_arn] + [
        os.environ[name] for name in names
    ]
"""
    name = deploy(
        client, source, MemorySize=256, Timeout=20, Environment={"Variables": {"COLOUR": "red"}}
    )
    role = client("lambda").get_function_configuration(FunctionName=name)["Role"]
    answer, error = invoke(client, name)
    assert error is None, answer
    arn = f"arn:aws:lambda:eu-central-1:111111111111:function:{name}"
    role_name = role.split("/")[1]
    assert answer == [
        f"arn:aws:sts::111111111111:assumed-role/{role_name}/{name}",
        "256",
        arn,
        "red",
        "eu-central-1",
        name,
        "256",
    ]


def test_nothing_of_localcloud_is_on_a_functions_path(client):
    kind, error, message = error_of(client, "import moto\ndef handler(e, c): pass\n")
    assert (kind, error) == ("Unhandled", "Runtime.ImportModuleError")
    assert "No module named 'moto'" in message


def test_a_zip_may_bring_its_own_boto3(client):
    files = {"app.py": "import boto3\ndef handler(e, c):\n    return boto3.__version__\n"}
    files["boto3/__init__.py"] = "__version__ = 'mine'"
    name = deploy(client, Code={"ZipFile": make_zip(files)})
    assert invoke(client, name) == ("mine", None)


def test_an_environment_is_used_again_while_it_is_warm(client):
    name = deploy(client, _COUNTING)
    (first, _), (second, _) = invoke(client, name), invoke(client, name)
    assert (first["calls"], second["calls"]) == (1, 2)
    assert first["pid"] == second["pid"]


def test_concurrent_calls_get_environments_of_their_own(client, tmp_path):
    """Each waits until all are there: one after the other, none would end."""
    name = deploy(client, _MEETING, Timeout=60)
    event = {"place": str(tmp_path), "guests": 4}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: invoke(client, name, event), range(4)))
    assert [error for _, error in answers] == [None] * 4
    assert len({process for process, _ in answers}) == 4


def test_reserved_concurrency_is_a_limit(client, tmp_path, raised_limit):
    name = deploy(client, _WAITING, Timeout=60)
    client("lambda").put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=1)
    once = client("lambda", config=Config(retries={"total_max_attempts": 1}))
    end = tmp_path / "end"
    busy = threading.Thread(target=invoke, args=(client, name, str(end)))
    busy.start()

    wait_until("the first call runs", (tmp_path / "end-begun").exists)
    with pytest.raises(ClientError) as refused:
        once.invoke(FunctionName=name, Payload=b"0")
    end.touch()
    busy.join()
    answer = refused.value.response
    assert answer["Error"]["Code"] == "TooManyRequestsException"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 429
    assert invoke(client, name, 0) == (0, None)


def test_changed_code_and_configuration_are_used_by_the_next_call(client):
    name = deploy(client, _COUNTING)
    invoke(client, name)
    new = make_zip({"app.py": "import os\ndef handler(e, c):\n    return os.environ.get('X')\n"})
    client("lambda").update_function_code(FunctionName=name, ZipFile=new)
    assert invoke(client, name) == (None, None)
    client("lambda").update_function_configuration(
        FunctionName=name, Environment={"Variables": {"X": "new"}}
    )
    assert invoke(client, name) == ("new", None)


def test_versions_run_beside_each_other(client):
    name, lambda_ = deploy(client, "def handler(e, c):\n    return 'old'\n"), client("lambda")
    version = lambda_.publish_version(FunctionName=name)["Version"]
    new = make_zip({"app.py": "def handler(e, c):\n    return 'new'\n"})
    lambda_.update_function_code(FunctionName=name, ZipFile=new)
    for _ in range(2):
        assert invoke(client, name, Qualifier=version) == ("old", None)
        assert invoke(client, name) == ("new", None)
    answer = lambda_.invoke(FunctionName=name, Qualifier=version)
    assert answer["ExecutedVersion"] == version


@pytest.mark.parametrize("operation", ["invoke", "get_function", "delete_function"])
def test_a_qualifier_that_is_not_that_of_the_name_is_refused(client, operation):
    name = deploy(client)
    client("lambda").publish_version(FunctionName=name)

    call = getattr(client("lambda"), operation)
    assert refusal(call, FunctionName=f"{name}:1", Qualifier="$LATEST") == (
        "InvalidParameterValueException",
        "The derived qualifier from the function name does not match the specified qualifier.",
    )


def test_a_deleted_function_ends_its_processes(client):
    name = deploy(client, _COUNTING)
    pid = invoke(client, name)[0]["pid"]
    client("lambda").delete_function(FunctionName=name)
    wait_until("the process is gone", lambda: not is_running(pid))
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        invoke(client, name)
    with pytest.raises(ClientError, match=r"ResourceNotFoundException.*Function not found"):
        client("lambda").delete_function(FunctionName=name)


def test_code_may_come_from_s3(client):
    client("s3").create_bucket(
        Bucket="code-bucket", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    client("s3").put_object(Bucket="code-bucket", Key="f.zip", Body=make_zip({"app.py": ECHO}))
    name = deploy(client, Code={"S3Bucket": "code-bucket", "S3Key": "f.zip"})
    assert invoke(client, name, [1]) == ([1], None)


def test_a_dry_run_runs_nothing(client, tmp_path):
    trace = tmp_path / "ran"
    name = deploy(client, f"def handler(e, c):\n    open({str(trace)!r}, 'w')\n")
    answer = client("lambda").invoke(FunctionName=name, InvocationType="DryRun")
    assert answer["StatusCode"] == 204
    with pytest.raises(ClientError, match="Function not found"):
        client("lambda").invoke(FunctionName="nobody", InvocationType="DryRun")
    assert not trace.exists()


@pytest.mark.parametrize(
    ("kind", "size", "limit"),
    [("RequestResponse", 6_291_460, 6_291_456), ("Event", 1_048_580, 1_048_576)],
)
def test_an_event_that_is_too_large_is_refused(client, kind, size, limit):
    name = deploy(client)
    with pytest.raises(ClientError) as caught:
        client("lambda").invoke(
            FunctionName=name, InvocationType=kind, Payload=json.dumps("x" * (size - 2))
        )
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 413
    assert caught.value.response["Error"]["Code"] == "RequestTooLargeException"
    assert (
        f"{size} byte payload is too large for the {kind} invocation type (limit {limit} bytes)"
    ) in str(caught.value)


@pytest.mark.parametrize("payload", [b"{no json", b"[" * 5_000 + b"]" * 5_000])
def test_an_event_that_is_not_json_is_rejected(client, payload):
    with pytest.raises(ClientError, match="InvalidRequestContentException"):
        client("lambda").invoke(FunctionName=deploy(client), Payload=payload)


def test_a_function_of_another_account_is_not_found_by_name(client):
    name = deploy(client)
    with pytest.raises(ClientError, match="Function not found"):
        client("lambda", account="222222222222").invoke(FunctionName=name)
