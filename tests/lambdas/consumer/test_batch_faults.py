"""What the function's tables, bucket and registry do wrong: waited for, or told, never lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from localcloud.faults import Faults, Kind
from systems.consumers import Consumer, set_variables
from systems.trials import Trials
from tests.lambdas.consumer.batches import DONE, NewModel, consume, fail, rows_of


@pytest.mark.parametrize(
    "injected",
    [
        {"kind": Kind.THROTTLE, "operation": "BatchWriteItem", "calls": 3},
        {"kind": Kind.UNPROCESSED, "operation": "BatchWriteItem", "calls": 3, "items": 7},
        {"kind": Kind.CUT, "operation": "BatchWriteItem", "calls": 2},
        {"kind": Kind.THROTTLE, "operation": "PutItem", "calls": 3},
        {"kind": Kind.CUT, "operation": "PutItem", "calls": 2},
        {"kind": Kind.ERROR, "operation": "PutItem", "calls": 2},
    ],
    ids=lambda injected: f"{injected['operation']} {injected['kind']}",
)
@pytest.mark.usefixtures("faults")
def test_a_short_outage_is_retried_within_the_invocation(
    shared: Consumer,
    new_model: NewModel,
    injected: dict[str, Any],
    fault: Callable[[str], Trials],
    trials: Callable[[int, int], int],
) -> None:
    outages = fault("table-answers")
    for _ in range(trials(1, 10)):
        model = new_model(shared)
        broken = shared.cloud.state(Faults).add(service="dynamodb", **injected)

        assert consume(shared, model.event({0: model.some(60, poison=0.2)})) == DONE
        model.compare(*rows_of(shared, model), outages)
        assert broken.broken == injected["calls"]
        outages.count(1, fired=broken.broken)


@pytest.mark.parametrize("operation", ["BatchWriteItem", "PutItem"])
def test_a_table_that_is_denied_fails_the_batch(
    shared: Consumer, new_model: NewModel, faults: Faults, operation: str
) -> None:
    model = new_model(shared)
    event = model.event({0: [model.good(), model.bad(), model.good()]})
    denied = {"code": "AccessDeniedException", "status": 400}
    faults.add(kind=Kind.ERROR, service="dynamodb", operation=operation, **denied)

    said = fail(shared, event)

    assert said.startswith(
        f"SinkAccessDeniedError: DynamoDB's {operation} was refused: AccessDeniedException: "
    )
    assert rows_of(shared, model)[1] == []
    faults.clear()
    assert consume(shared, event) == DONE
    model.compare(*rows_of(shared, model))


def test_a_large_value_is_parked_and_the_bucket_may_be_down(
    shared: Consumer, new_model: NewModel, faults: Faults
) -> None:
    model = new_model(shared)
    value = b"junk" * 200_000
    event = model.event({0: [model.good(), model.bad(value=value), model.good()]})
    denied = {"code": "AccessDenied", "status": 403}
    faults.add(kind=Kind.ERROR, service="s3", operation="PutObject", **denied)

    (record,) = (each for each in event["records"][f"{model.topic}-0"] if each["offset"] == 1)
    row_id = f"{model.topic}/0/1/{record['timestamp']}"
    where = f"s3://{shared.name}-parked/errors/{row_id}/value"
    # The line of the log comes before the value and the row.
    assert re.match(
        rf"SinkAccessDeniedError: s3://{shared.name}-parked/dead-letters/\S+ cannot be written: "
        r"An error occurred \(AccessDenied\)",
        fail(shared, event),
    )
    assert rows_of(shared, model)[1] == []
    faults.clear()
    assert consume(shared, event) == DONE

    readings, (error,) = rows_of(shared, model)
    assert error["valueAt"] == where
    assert "value" not in error
    key = where.removeprefix(f"s3://{shared.name}-parked/")
    found = shared.at_home("s3").get_object(Bucket=f"{shared.name}-parked", Key=key)
    assert found["Body"].read() == value
    model.errors.clear()
    model.compare(readings, [])


def test_what_a_function_has_no_time_for_is_named_in_the_response(
    consumer: Consumer, new_model: NewModel
) -> None:
    variables = {"PENSTOCK_PARTIAL_ANSWERS": "true"}
    set_variables(consumer.at_home("lambda"), consumer.function, variables, Timeout=30)
    model = new_model(consumer)
    event = model.event({0: [model.good() for _ in range(3)]})
    records = event["records"][f"{model.topic}-0"]

    for offset in (1, 2):
        held = {"itemIdentifier": {"partition": f"{model.topic}-0", "offset": offset}}
        assert consume(consumer, event) == {"batchItemFailures": [held]}
        del records[0]
    assert consume(consumer, event) == DONE
    model.compare(*rows_of(consumer, model))


def test_a_held_record_is_named_in_the_response(
    consumer: Consumer, new_model: NewModel, faults: Faults
) -> None:
    consumer.set_environment(PENSTOCK_PARTIAL_ANSWERS="true")
    model = new_model(consumer)
    known = [model.good(0, version=0), model.good(0, version=0)]
    new = [model.good(1, version=0), model.good(1, version=2), model.good(1, version=0)]
    warm = new_model(consumer)
    consume(consumer, warm.event({0: [warm.good(version=0)]}))
    denied = {"code": "AccessDeniedException", "status": 400}
    faults.add(kind=Kind.ERROR, service="glue", operation="GetSchemaVersion", **denied)

    answer = consume(consumer, model.event({0: known, 1: new}))

    held = {"itemIdentifier": {"partition": f"{model.topic}-1", "offset": 1}}
    assert answer == {"batchItemFailures": [held]}
    assert len(rows_of(consumer, model)[0]) == 3
    faults.clear()
    assert consume(consumer, model.event({0: known, 1: new})) == DONE
    model.compare(*rows_of(consumer, model))
