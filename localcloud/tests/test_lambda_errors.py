"""Functions that fail: the error's type and words, and what is killed."""

from __future__ import annotations

import base64
import json

import pytest

from localcloud.testing import ECHO, deploy, error_of, invoke, is_running, wait_until


def test_an_exception_is_reported_with_its_stack(client):
    name = deploy(client, "def handler(e, c):\n    raise ValueError('boom')\n")
    body, kind = invoke(client, name)
    assert kind == "Unhandled"
    assert (body["errorType"], body["errorMessage"]) == ("ValueError", "boom")
    assert "raise ValueError('boom')" in body["stackTrace"][0]
    assert invoke(client, name)[1] == "Unhandled"  # the environment goes on


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("import nothing_like_it\n", "Runtime.ImportModuleError", "nothing_like_it"),
        ("def handler(:\n", "Runtime.UserCodeSyntaxError", "Syntax error in module 'app'"),
        ("x = 1\n", "Runtime.HandlerNotFound", "Handler 'handler' missing on module 'app'"),
        ("raise RuntimeError('at import')\n", "RuntimeError", "at import"),
        ("import os\nos._exit(4)\n", "Runtime.ExitError", "exited with error: exit status 4"),
        (
            "import os\ndef handler(e, c):\n    os._exit(7)\n",
            "Runtime.ExitError",
            "Error: Runtime exited with error: exit status 7",
        ),
        (
            "import os\ndef handler(e, c):\n    os.kill(os.getpid(), 9)\n",
            "Runtime.ExitError",
            "Error: Runtime exited with error: signal: killed",
        ),
        (
            "def handler(e, c):\n    return {1, 2}\n",
            "Runtime.MarshalError",
            "Unable to marshal response: Object of type set is not JSON serializable",
        ),
        (
            "def handler(e, c):\n    return 'x' * 6_300_000\n",
            "Function.ResponseSizeTooLarge",
            "Response payload size exceeded maximum allowed payload size (6291556 bytes).",
        ),
    ],
)
def test_each_failure_has_the_error_type_of_aws(client, source, error, message):
    kind, found, text = error_of(client, source)
    assert (kind, found) == ("Unhandled", error)
    assert message in text


def test_a_handler_name_without_a_dot_is_reported(client):
    kind, error, _ = error_of(client, ECHO, Handler="handler")
    assert (kind, error) == ("Unhandled", "Runtime.MalformedHandlerName")


def test_a_function_that_takes_too_long_is_killed_with_its_children(client):
    source = """
import os, subprocess, sys, time
def handler(event, context):
    if event == "quick":
        return "quick"
    child = subprocess.Popen(["sleep", "60"])
    print(f"child={child.pid}", flush=True)
    time.sleep(30)
"""
    name = deploy(client, source, Timeout=1)
    for _ in range(30):  # on a busy machine, its time may be up before it has a child
        answer = client("lambda").invoke(FunctionName=name, Payload=b"{}", LogType="Tail")
        tail = base64.b64decode(answer["LogResult"]).decode()
        assert "Task timed out after 1.00 seconds" in tail
        if "child=" in tail:
            break
    body = json.loads(answer["Payload"].read())
    request_id = answer["ResponseMetadata"]["RequestId"]
    assert answer["FunctionError"] == "Unhandled"
    assert body == {
        "errorType": "Sandbox.Timedout",
        "errorMessage": f"RequestId: {request_id} Error: Task timed out after 1.00 seconds",
    }
    child = int(tail.split("child=")[1].split()[0])
    wait_until("the child is gone", lambda: not is_running(child))
    assert "Status: timeout" in tail
    wait_until("it answers again", lambda: invoke(client, name, "quick") == ("quick", None))


def test_a_function_that_uses_more_memory_than_it_has_is_killed(client):
    source = """
import time
def handler(event, context):
    held = bytearray(200 * 1024 * 1024)
    time.sleep(20)
"""
    kind, error, message = error_of(client, source, MemorySize=128, Timeout=20)
    assert (kind, error) == ("Unhandled", "Runtime.ExitError")
    assert "signal: killed" in message
