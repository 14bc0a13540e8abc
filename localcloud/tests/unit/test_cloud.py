"""State by account and region, and an end that reaches everybody."""

from __future__ import annotations

import pytest

from localcloud.cloud import Cloud
from localcloud.door.operations import find_operation, operation, own_operations


@pytest.fixture
def cloud(tmp_path):
    return Cloud(endpoint="", folder=tmp_path)


class _Queue(list):
    pass


def test_state_is_one_per_account_and_region(cloud):
    here = cloud.state(_Queue, "1", "r")
    assert cloud.state(_Queue, "1", "r") is here
    assert cloud.state(_Queue, "2", "r") is not here
    assert [(account, region) for account, region, _ in cloud.states(_Queue)] == [
        ("1", "r"),
        ("2", "r"),
    ]


def test_the_end_comes_once_and_newest_first(cloud):
    ended = []
    cloud.on_stop(lambda: ended.append("first"))
    cloud.on_stop(lambda: ended.append("second"))
    cloud.stop()
    cloud.stop()
    assert ended == ["second", "first"]


def test_a_part_that_cannot_be_stopped_does_not_block_the_others(cloud):
    ended = []
    cloud.on_stop(lambda: ended.append("first"))

    def fail():
        raise OSError("stuck")

    cloud.on_stop(fail)
    with pytest.raises(ExceptionGroup, match="some parts of localcloud did not stop") as failed:
        cloud.stop()
    assert [str(error) for error in failed.value.exceptions] == ["stuck"]
    assert ended == ["first"]


def test_an_operation_is_answered_by_one_function_only():
    @operation("nonsense", "Twice")
    def twice(_call):
        return {}

    assert find_operation("nonsense", "Twice") is twice
    assert ("nonsense", "Twice") in own_operations()
    with pytest.raises(
        ValueError, match=r"nonsense:Twice has two handlers, the second in .*test_cloud"
    ):
        operation("nonsense", "Twice")(twice)
