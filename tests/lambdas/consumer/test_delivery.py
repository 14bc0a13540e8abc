"""From a real broker through a mapping: whatever breaks on the way, the rows equal the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from localcloud.brokers import BrokerCluster
from localcloud.faults import Faults, Kind
from localcloud.testing import wait_until
from localcloud.testing.mappings import second_member
from systems.clocks import write_clock
from systems.consumers import Consumer, make_reader, remove_role
from systems.trials import Trials
from tests.lambdas.consumer.flow import Flow
from tests.lambdas.consumer.model import Model

pytestmark = pytest.mark.kafka

NewModel = Callable[[Consumer], Model]
NewTrials = Callable[[str], Trials]


@pytest.fixture
def flow(broker: BrokerCluster, consumer: Consumer, new_model: NewModel) -> Flow:
    return Flow(broker, consumer, new_model(consumer))


def test_two_hundred_records_become_rows(flow: Flow) -> None:
    flow.send_some(50)
    with flow.mapped():
        flow.wait()


def test_a_function_that_is_killed_in_mid_batch_loses_nothing(
    flow: Flow, faults: Faults, fault: NewTrials
) -> None:
    kills = fault("function-killed")
    # Time is up while the second of its requests hangs: the process is killed.
    flow.consumer.at_home("lambda").update_function_configuration(
        FunctionName=flow.consumer.function, Timeout=5
    )
    flow.send(flow.model.some(80, poison=0.3))
    hangs = faults.add(kind=Kind.HANG, operation="PutItem", calls=1, seconds=30)
    with flow.mapped(BatchSize=100) as mapping:
        flow.wait_for_problem(mapping, "Task timed out")
        with kills.recovery():
            flow.wait(kills)
    kills.count(1, fired=hangs.broken)


def test_a_rebalance_loses_nothing(flow: Flow, faults: Faults) -> None:
    faults.add(kind=Kind.LATENCY, operation="BatchWriteItem", probability=0.5, seconds=0.3)
    group = f"g-{flow.topic.name}"
    settings = {"SelfManagedKafkaEventSourceConfig": {"ConsumerGroupId": group}}
    with flow.mapped(BatchSize=10, **settings):
        for _ in range(2):
            flow.send_some(20)
            with second_member(flow.topic, group):
                flow.send_some(20)
        flow.wait()


def test_a_partial_batch_response_holds_back_only_its_partition(flow: Flow, faults: Faults) -> None:
    flow.consumer.set_environment(PENSTOCK_PARTIAL_ANSWERS="true")
    settings = {
        "ProvisionedPollerConfig": {"MinimumPollers": 1, "MaximumPollers": 1},
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "MaximumBatchingWindowInSeconds": 1,
    }
    flow.send([flow.model.good(version=0)])
    with flow.mapped(**settings):
        flow.wait()
        denied = {"code": "AccessDeniedException", "status": 400}
        faults.add(kind=Kind.ERROR, service="glue", operation="GetSchemaVersion", **denied)
        flow.send([flow.model.good(1, version=0) for _ in range(20)], 1)
        known = len(flow.model.readings)
        mixed = [flow.model.good(0, version=number % 2) for number in range(20)]
        flow.send(mixed, 0)
        wait_until("the partition goes on", lambda: len(flow.consumer.rows("readings")) > known)
        assert len(flow.consumer.rows("readings")) == known + 1  # what precedes the first new one
        faults.clear()
        flow.wait()


# --- what is down, and comes back -----------------------------------------------------------


@contextmanager
def _wrong_external_id(flow: Flow, faults: Faults) -> Iterator[str]:
    url = flow.consumer.registry_url("wrong")
    flow.consumer.set_environment(PENSTOCK_REGISTRY=url)
    yield "RegistryAccessDeniedError"
    flow.consumer.set_environment(PENSTOCK_REGISTRY=flow.consumer.registry_url())


@contextmanager
def _no_reader_role(flow: Flow, faults: Faults) -> Iterator[str]:
    remove_role(flow.consumer.client, flow.consumer.reader)
    yield "answered sts:AssumeRole with AccessDenied"
    make_reader(flow.consumer.client, flow.consumer.role, flow.consumer.reader.split("/")[1])


@contextmanager
def _throttled_table(flow: Flow, faults: Faults) -> Iterator[str]:
    faults.add(kind=Kind.THROTTLE, service="dynamodb", operation="BatchWriteItem")
    yield "DynamoDB's BatchWriteItem failed for 20 s: "
    faults.clear()


@contextmanager
def _registry_down(flow: Flow, faults: Faults) -> Iterator[str]:
    faults.add(kind=Kind.ERROR, service="glue", code="InternalServiceException")
    yield "RegistryUnavailableError"
    faults.clear()


@pytest.mark.parametrize(
    "outage", [_wrong_external_id, _no_reader_role, _throttled_table, _registry_down]
)
def test_an_outage_is_reported_and_nothing_is_lost(
    flow: Flow, faults: Faults, outage: Callable[..., Any], fault: NewTrials
) -> None:
    outages = fault("function-outage")
    flow.send_some(10)
    with ExitStack() as stack:
        with outage(flow, faults) as said:
            mapping = stack.enter_context(flow.mapped())
            flow.wait_for_problem(mapping, said)
            assert flow.is_empty()
        outages.count(1, fired=1)  # the mapping told of it
        with outages.recovery():
            flow.wait(outages)


@pytest.mark.parametrize("minutes", [-16, 16], ids=["behind", "ahead"])
def test_a_function_with_a_wrong_clock_gives_up_no_record(
    flow: Flow, fault: NewTrials, tmp_path: Path, minutes: int
) -> None:
    """AWS refuses its signatures: the records wait until the clock is right."""
    clocks = fault("clock")
    flow.send_some(10)
    flow.consumer.set_environment(PYTHONPATH=write_clock(tmp_path / "clock", 60 * minutes))
    with flow.mapped() as mapping:
        flow.wait_for_problem(mapping, "answered sts:AssumeRole with SignatureDoesNotMatch")
        assert flow.is_empty()
        clocks.count(1, fired=1)  # the function told of it
        flow.consumer.set_environment(PYTHONPATH="")
        with clocks.recovery():
            flow.wait(clocks)
