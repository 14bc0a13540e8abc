"""What the table of localcloud's operations is made of."""

from __future__ import annotations

from pathlib import Path

from localcloud.door.operations import Call
from tools.fidelity import find_silent, find_test, refuses


def forwards(call: Call) -> object:
    """Let moto answer, which reads what this does not."""
    return call.forward()


def answers(call: Call) -> object:
    """Answer here."""
    return call.params["Name"]


def always_refuses(call: Call) -> object:
    """Refuse."""
    raise unknown_operation(call.name)  # type: ignore[name-defined]  # noqa: F821


def test_a_parameter_that_no_code_names_is_silent(tmp_path: Path) -> None:
    (tmp_path / "queues.py").write_text('call.params["QueueName"]')

    assert find_silent("sqs", "CreateQueue", answers, tmp_path) == {"Attributes", "tags"}
    assert find_silent("sqs", "CreateQueue", forwards, tmp_path) == set()


def test_a_function_that_only_raises_refuses() -> None:
    assert refuses(always_refuses)
    assert not refuses(answers)


def test_a_test_is_found_by_the_name_in_boto3() -> None:
    found = find_test("CreateChannel")
    assert found is not None
    assert found.name == "test_channel_requests.py"
    assert find_test("NobodyCallsThis") is None
