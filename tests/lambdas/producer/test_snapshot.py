"""A producer that is restored from a snapshot answers its first event as any other does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localcloud.functions.runtimes import find_interpreter
from localcloud.testing import invoke, wait_until
from tests.lambdas.producer.conftest import Producers
from tools.build_zip import build
from tools.lambda_packages import Target

_PYTHON = next((each for each in ("3.13", "3.12") if find_interpreter(each)), None)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(
        _PYTHON is None, reason="SnapStart needs Python 3.12 or 3.13, and this machine has neither"
    ),
]


@pytest.fixture
def restored(
    producers: Producers, client: Callable[..., Any], tmp_path: Path
) -> Iterator[tuple[str, str]]:
    """A second function like the first, with bytecode and SnapStart, and its version."""
    build(Target(str(_PYTHON), Target.of_host().arch), tmp_path, with_bytecode=True)
    lambda_, name = client("lambda"), f"{producers.name}-restored"
    like = lambda_.get_function_configuration(FunctionName=producers.function)
    lambda_.create_function(
        FunctionName=name,
        Code={"ZipFile": (tmp_path / "producer-lambda.zip").read_bytes()},
        Runtime=f"python{_PYTHON}",
        SnapStart={"ApplyOn": "PublishedVersions"},
        **{part: like[part] for part in ("Architectures", "Handler", "MemorySize", "Role")},
        Environment={"Variables": like["Environment"]["Variables"]},
        Timeout=30,
    )
    version = lambda_.publish_version(FunctionName=name)["Version"]

    def is_made() -> bool:
        found = lambda_.get_function_configuration(FunctionName=name, Qualifier=version)
        assert found["State"] != "Failed", found["StateReason"]
        return bool(found["State"] == "Active")

    wait_until("the snapshot is made", is_made)
    yield name, version
    lambda_.delete_function(FunctionName=name)


def test_its_first_events_are_written_and_kept_with_new_keys(
    restored: tuple[str, str], producers: Producers, client: Callable[..., Any]
) -> None:
    name, version = restored
    time.sleep(6)  # the keys of before the snapshot are valid for 5 seconds
    answers = [
        invoke(client, name, event, Qualifier=version)
        for event in ({"temperature": 30}, [{"temperature": 31}, {"temperature": "warm"}])
    ]

    assert [error for _, error in answers] == [None, None]
    (first, (second, refused)) = (answer for answer, _ in answers)
    assert (first["offset"], second["offset"]) == (0, 1)
    assert refused["error"]["reason"] == "SchemaConflictError"
    assert [event["temperature"] for _, event in producers.records(producers.registry())] == [
        30,
        31,
    ]
    assert [each["event"] for each in producers.rejected()] == [{"temperature": "warm"}]
