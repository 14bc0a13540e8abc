"""An event that Kafka did not take is sent again by `penstock rejected replay`."""

from __future__ import annotations

import socket

import pytest

from localcloud.testing import invoke, wait_until
from penstock.cli import main
from systems.consumers import set_variables
from tests.lambdas.producer.conftest import Producers

pytestmark = pytest.mark.kafka

_NOBODY = "127.0.0.1:9"
_LITTLE = 4  # seconds of a function


def _point_at(producers: Producers, servers: str, timeout: int = 30) -> None:
    """Give the function other brokers, as after a repair."""
    lambda_ = producers.client("lambda")
    variables = {"KAFKA_BOOTSTRAP_SERVERS": servers}
    set_variables(lambda_, producers.function, variables, Timeout=timeout)
    wait_until(
        "the function is updated",
        lambda: (
            lambda_.get_function_configuration(FunctionName=producers.function)["LastUpdateStatus"]
            == "Successful"
        ),
    )


def test_an_event_that_kafka_did_not_take_is_sent_again(
    producers: Producers, capsys: pytest.CaptureFixture[str]
) -> None:
    _point_at(producers, _NOBODY)
    answer, error = invoke(producers.client, producers.function, {"temperature": 30})

    assert (error, answer["errorType"]) == ("Unhandled", "UndeliveredEventError")
    assert f"{_NOBODY} cannot be reached" in answer["errorMessage"]
    (kept,) = producers.rejected()
    assert kept["event"] == {"temperature": 30}
    assert f"{answer['requestId']}-0.json" in answer["errorMessage"]

    words = ["rejected", "replay", f"{producers.function}/", "--bucket", producers.bucket]
    assert main(words, {}) == 1
    assert "0 written, 1 stay" in capsys.readouterr().out
    assert producers.rejected() == [kept]

    _point_at(producers, producers.servers)
    assert main(words, {}) == 0
    assert f"is written as {producers.name}/0/0" in capsys.readouterr().out
    assert producers.rejected() == []
    ((_, event),) = producers.records(producers.registry())
    assert event["temperature"] == 30
    assert event["timestamp"] == kept["base"]["timestamp"]


@pytest.mark.parametrize("timeout", [_LITTLE, 12])
def test_a_kafka_that_never_answers_is_reported_before_the_timeout(
    producers: Producers, timeout: int
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        _point_at(producers, f"127.0.0.1:{silent.getsockname()[1]}", timeout)

        answer, error = invoke(producers.client, producers.function, {"temperature": 30})

    assert (error, answer["errorType"]) == ("Unhandled", "UndeliveredEventError")
    kept = producers.rejected()
    if timeout == _LITTLE and not kept:  # a quarter of it can be too short for a first call to S3
        assert "the event is not kept: the bucket took longer than" in answer["errorMessage"]
    else:
        assert [each["event"] for each in kept] == [{"temperature": 30}]
