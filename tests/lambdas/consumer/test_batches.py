"""The function from its zip: batches of a mapping become exactly the rows of the model."""

from __future__ import annotations

import json
import random
import threading
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from localcloud.faults import Faults, Kind
from localcloud.testing import wait_until
from systems.consumers import Consumer
from tests.lambdas.consumer.batches import DONE, NewModel, consume, rows_of


def test_two_hundred_records_of_many_versions(shared: Consumer, new_model: NewModel) -> None:
    model = new_model(shared)
    event = model.event({partition: model.some(50, partition) for partition in range(4)})

    assert consume(shared, event) == DONE
    model.compare(*rows_of(shared, model))
    assert len(model.readings) + len(model.errors) == 200


@pytest.mark.parametrize("change", ["drop", "alter"])
def test_the_model_finds_one_wrong_record(
    shared: Consumer, new_model: NewModel, seeded: random.Random, change: str
) -> None:
    model = new_model(shared)
    event = model.event({0: model.some(30)})
    records = event["records"][f"{model.topic}-0"]
    place = seeded.randrange(30)
    if change == "drop":
        del records[place]
    else:
        value = b64decode(records[place]["value"])
        records[place] = model.record(value + b"\x00", 0, place)
    consume(shared, event)

    with pytest.raises(AssertionError):
        model.compare(*rows_of(shared, model))


def test_two_topics_with_the_same_records_are_two_sets_of_rows(
    shared: Consumer, new_model: NewModel
) -> None:
    models = [new_model(shared), new_model(shared)]
    for model in models:
        model.random = random.Random(7)
        consume(shared, model.event({0: model.some(20)}))

    for model in models:
        model.compare(*rows_of(shared, model))
    assert {key[1][:13] for key in models[0].readings} == {
        key[1][:13] for key in models[1].readings
    }


def test_poison_at_every_place_of_a_batch(shared: Consumer, new_model: NewModel) -> None:
    for place in range(8):
        model = new_model(shared)
        values = [model.bad() if at == place else model.good() for at in range(8)]

        assert consume(shared, model.event({0: values})) == DONE
        model.compare(*rows_of(shared, model))


def test_a_batch_that_comes_again_changes_nothing(shared: Consumer, new_model: NewModel) -> None:
    model = new_model(shared)
    event = model.event({0: model.some(40, poison=0.3)})
    consume(shared, event)
    before = rows_of(shared, model)
    for row in before[1]:  # as a job does that tried it again
        row |= {"attempts": 2, "waitingFor": "a schema"}
        shared.table("errors").put_item(Item=row)

    consume(shared, event)

    assert _by_key(rows_of(shared, model)) == _by_key(before)
    model.compare(*before)


def _by_key(tables: tuple[list[Any], list[Any]]) -> list[list[Any]]:
    return [sorted(rows, key=lambda row: row.get("_source") or row["id"]) for rows in tables]


def test_a_late_invocation_changes_nothing(
    shared: Consumer, new_model: NewModel, faults: Faults
) -> None:
    model = new_model(shared)
    event = model.event({0: model.some(60)})
    held = faults.add(kind=Kind.LATENCY, operation="BatchWriteItem", calls=1, seconds=600)
    answers: list[Any] = []
    zombie = threading.Thread(target=lambda: answers.append(consume(shared, event)))
    zombie.start()
    wait_until("a write that is held", lambda: held.broken or not zombie.is_alive())
    assert held.broken == 1

    assert consume(shared, event) == DONE  # by another environment
    before = _by_key(rows_of(shared, model))
    faults.clear()  # only now is the write performed
    zombie.join()

    assert answers == [DONE]
    assert _by_key(rows_of(shared, model)) == before
    model.compare(*rows_of(shared, model))


def test_an_environment_has_one_session_at_sts(
    consumer: Consumer, new_model: NewModel, cloud: Any
) -> None:
    log = Path(cloud.folder, "calls.jsonl")
    before = log.stat().st_size
    for _ in range(4):
        model = new_model(consumer)
        consume(consumer, model.event({0: model.some(20)}))

    calls = [json.loads(line) for line in log.read_bytes()[before:].splitlines()]
    mine = [call["operation"] for call in calls if consumer.reader in json.dumps(call)]
    assert mine.count("AssumeRole") == 1
    readers = [call for call in calls if consumer.reader.split("/")[1] in call["principal"]]
    assert {call["operation"] for call in readers} == {"GetSchemaVersion"}


def _invoke_and_read_log(consumer: Consumer, event: Any) -> tuple[Any, list[dict[str, Any]]]:
    answer = consumer.at_home("lambda").invoke(
        FunctionName=consumer.function, Payload=json.dumps(event), LogType="Tail"
    )
    lines = b64decode(answer["LogResult"]).decode().splitlines()
    return answer, [json.loads(line) for line in lines if line.startswith("{")]


def _metrics_in(lines: list[dict[str, Any]]) -> dict[tuple[str, str | None], list[float]]:
    """Values by name and what the dimension besides the function's name says."""
    return {
        (metric["Name"], line.get("Reason") or line.get("Error")): line[metric["Name"]]
        for line in lines
        for each in line.get("_aws", {}).get("CloudWatchMetrics", [])
        for metric in each["Metrics"]
    }


def test_a_batch_is_counted_and_its_errors_named(consumer: Consumer, new_model: NewModel) -> None:
    model = new_model(consumer)
    event = model.event({0: [model.good(), model.bad(value=b"junk"), model.good()]})

    answer, lines = _invoke_and_read_log(consumer, event)

    metrics = _metrics_in(lines)
    assert metrics["RowsWritten", None] == [2.0]
    assert metrics["RecordsGivenUp", None] == metrics["RecordsGivenUp", "unknown-framing"] == [1.0]
    assert {name for name, _ in metrics} >= {"Latency", "Lag", "Tombstones", "PartitionsHeld"}
    (said,) = [line for line in lines if line.get("level") == "WARNING"]
    assert said["message"].startswith(f"{model.topic}/0/1 is given up as unknown-framing: ")
    assert said["function_request_id"] == answer["ResponseMetadata"]["RequestId"]


def test_partitions_of_a_batch_that_waits_are_counted(
    consumer: Consumer, new_model: NewModel, faults: Faults
) -> None:
    model = new_model(consumer)
    denied = {"code": "AccessDeniedException", "status": 400}
    faults.add(kind=Kind.ERROR, service="glue", operation="GetSchemaVersion", **denied)

    _invoke_and_read_log(consumer, model.event({0: [model.good()], 1: [model.good(1)]}))

    asked = {"logGroupName": f"/aws/lambda/{consumer.function}", "filterPattern": "PartitionsHeld"}
    logs = consumer.at_home("logs")
    (event,) = wait_until("the metric", lambda: logs.filter_log_events(**asked)["events"])
    assert json.loads(event["message"])["PartitionsHeld"] == [2.0]


def test_a_batch_that_fails_is_counted_too(shared: Consumer) -> None:
    _, lines = _invoke_and_read_log(shared, {"records": "odd"})

    metrics = _metrics_in(lines)
    assert metrics["BatchesFailed", "EventTextError"] == [1.0]
    assert metrics["PartitionsHeld", None] == [0.0]
    assert {name for name, _ in metrics} == {"BatchesFailed", "Latency", "PartitionsHeld"}
    (said,) = [line for line in lines if line.get("level") == "ERROR"]
    assert said["message"].startswith(
        "the batch must be delivered again: found an event that cannot be"
    )
