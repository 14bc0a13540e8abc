"""From a real broker through a mapping: whatever breaks on the way, the rows equal the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from localcloud.brokers import BrokerCluster
from localcloud.door.operations import Call, HttpAnswer
from localcloud.faults import Faults, Kind, Performed
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
Outage = Callable[[Flow, Faults], AbstractContextManager[str]]
Broken = Callable[[Outage, Trials], None]


@pytest.fixture
def flow(broker: BrokerCluster, consumer: Consumer, new_model: NewModel) -> Flow:
    return Flow(broker, consumer, new_model(consumer))


def test_two_hundred_records_become_rows(flow: Flow) -> None:
    flow.send_some(50)
    with flow.mapped():
        flow.await_rows()
    flow.check_rows()


def test_a_function_that_is_killed_in_mid_batch_loses_nothing(
    flow: Flow, faults: Faults, fault: NewTrials, trials: Callable[[int, int], int]
) -> None:
    kills, said = fault("function-killed"), "Task timed out"
    # Time is up while the second of its requests hangs: the process is killed.
    flow.consumer.at_home("lambda").update_function_configuration(
        FunctionName=flow.consumer.function, Timeout=5
    )
    with ExitStack() as stack:
        for number in range(trials(1, 10)):
            hangs = faults.add(kind=Kind.HANG, operation="PutItem", calls=1, seconds=30)
            flow.send(flow.model.some(80, poison=0.3))
            if number == 0:
                stack.enter_context(flow.mapped(BatchSize=100))
            flow.wait_for_log(said, number)
            kills.count(1, fired=hangs.broken)
            with kills.recovery():
                flow.await_rows()
    flow.check_rows(kills)


def test_a_rebalance_loses_nothing(flow: Flow, faults: Faults) -> None:
    """Another member gets partitions of a batch that the function has, and has not written."""
    group = f"g-{flow.topic.name}"
    settings = {
        "SelfManagedKafkaEventSourceConfig": {"ConsumerGroupId": group},
        "MaximumBatchingWindowInSeconds": 1,
    }
    with flow.mapped(BatchSize=100, **settings):
        for _ in range(2):
            _take_away(flow, faults, group)
            flow.await_rows()
    flow.check_rows()


def _take_away(flow: Flow, faults: Faults, group: str) -> None:
    """Have partitions of a batch taken away while the function cannot write it."""
    source, batch = re.compile(rf"{flow.topic.name}/(\d)/".encode()), set[int]()

    def note(call: Call, perform: Performed) -> HttpAnswer | None:
        batch.update(int(partition) for partition in source.findall(call.body))
        return perform()

    held = faults.add(kind=Kind.LATENCY, operation="BatchWriteItem", seconds=60)
    with faults.wrapped(note):
        flow.send_some(20)
        wait_until("a batch that is held", lambda: held.broken)
        with second_member(flow.topic, group) as other:
            taken = {place.partition for place in other.assignment()}
            assert taken & batch, "the function has no record of a partition that was taken away"
            faults.clear()
            flow.send_some(20)


def test_a_partial_batch_response_holds_back_only_its_partition(flow: Flow, faults: Faults) -> None:
    flow.consumer.set_environment(PENSTOCK_PARTIAL_ANSWERS="true")
    settings = {
        "ProvisionedPollerConfig": {"MinimumPollers": 1, "MaximumPollers": 1},
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "MaximumBatchingWindowInSeconds": 1,
    }
    flow.send([flow.model.good(version=0)])
    with flow.mapped(**settings):
        flow.await_rows()
        denied = {"code": "AccessDeniedException", "status": 400}
        faults.add(kind=Kind.ERROR, service="glue", operation="GetSchemaVersion", **denied)
        flow.send([flow.model.good(1, version=0) for _ in range(20)], 1)
        known = len(flow.model.readings)
        mixed = [flow.model.good(0, version=number % 2) for number in range(20)]
        flow.send(mixed, 0)
        wait_until("the partition goes on", lambda: len(flow.consumer.rows("readings")) > known)
        assert len(flow.consumer.rows("readings")) == known + 1  # what precedes the first new one
        faults.clear()
        flow.await_rows()
    flow.check_rows()


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


@contextmanager
def _wrong_clock(flow: Flow, faults: Faults, clock: str) -> Iterator[str]:
    flow.consumer.set_environment(PYTHONPATH=clock)
    yield "answered sts:AssumeRole with SignatureDoesNotMatch"
    flow.consumer.set_environment(PYTHONPATH="")


@pytest.fixture
def break_often(flow: Flow, faults: Faults, trials: Callable[[int, int], int]) -> Broken:
    """Begin outages, of which the function and its mapping tell, and end them."""

    def run(outage: Outage, outages: Trials) -> None:
        with ExitStack() as stack:
            for number in range(trials(1, 10)):
                # An environment that is new knows no schema and has no keys of the role.
                flow.consumer.set_environment(TRIAL=str(number))
                rows = flow.count()
                with outage(flow, faults) as said:
                    before = flow.count_logged(said)
                    flow.send_some(10)
                    if number == 0:
                        mapping = stack.enter_context(flow.mapped())
                    flow.wait_for_problem(mapping, said, before)
                    assert flow.count() == rows
                outages.count_seen(1)  # the mapping told of it
                with outages.recovery():
                    flow.await_rows()
        flow.check_rows(outages)

    return run


@pytest.mark.parametrize(
    "outage", [_wrong_external_id, _no_reader_role, _throttled_table, _registry_down]
)
def test_an_outage_is_reported_and_nothing_is_lost(
    break_often: Broken, outage: Outage, fault: NewTrials
) -> None:
    break_often(outage, fault("function-outage"))


@pytest.mark.parametrize("minutes", [-16, 16], ids=["behind", "ahead"])
def test_a_function_with_a_wrong_clock_gives_up_no_record(
    break_often: Broken, fault: NewTrials, tmp_path: Path, minutes: int
) -> None:
    """AWS refuses its signatures: the records wait until the clock is right."""
    clock = write_clock(tmp_path / "clock", 60 * minutes)
    break_often(partial(_wrong_clock, clock=clock), fault("clock"))
