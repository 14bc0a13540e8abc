"""From a real broker through a mapping: whatever breaks on the way, the rows equal the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer

from localcloud.brokers import BrokerCluster
from localcloud.faults import Faults, Kind
from localcloud.testing import wait_until
from localcloud.testing.mappings import create_topic, get, mapped
from tests.fixtures.consumers import Consumer, make_reader, remove_role
from tests.fixtures.faults import Trials
from tests.lambdas.consumer.model import Model

pytestmark = pytest.mark.kafka

NewModel = Callable[[Consumer], Model]
NewTrials = Callable[[str], Trials]


class Flow:
    """A topic with a model, a consumer behind it, and how far the rows are."""

    def __init__(self, broker: BrokerCluster, consumer: Consumer, model: Model) -> None:
        self.consumer = consumer
        self.model = model
        self.topic = create_topic(broker, partitions=4, name=model.topic)

    def send(self, values: list[bytes], partition: int = 0) -> None:
        """Write records, which the model has made."""
        servers = self.topic.cluster.bootstrap_servers("PLAINTEXT")
        producer = KafkaProducer(bootstrap_servers=servers)
        for value in values:
            producer.send(self.topic.name, value, partition=partition)
        producer.flush(10)
        producer.close()

    def send_some(self, count: int) -> None:
        """Write so many records to each partition."""
        for partition in range(4):
            self.send(self.model.some(count, partition), partition)

    def mapped(self, **settings: Any) -> Any:
        """Map the topic to the consumer."""
        settings = {"BatchSize": 50} | settings
        return mapped(self.consumer.at_home, self.consumer.function, self.topic, **settings)

    @contextmanager
    def second_member(self, group: str) -> Iterator[None]:
        """Have another member in the group, which takes partitions away and commits nothing."""
        servers = self.topic.cluster.bootstrap_servers("PLAINTEXT")
        settings = {
            "group_id": group,
            "enable_auto_commit": False,
            "session_timeout_ms": 6_000,  # when it leaves without a word
            "heartbeat_interval_ms": 1_000,
        }
        with closing(
            KafkaConsumer(self.topic.name, bootstrap_servers=servers, **settings)
        ) as other:
            wait_until("some partitions", lambda: other.poll(200) or other.assignment(), 60)
            yield

    def wait(self, trials: Trials | None = None, seconds: float = 60) -> None:
        """Wait for as many rows as there must be, then compare all of them."""
        wanted = len(self.model.readings), len(self.model.errors)
        wait_until(
            f"{wanted} rows",
            lambda: (
                tuple(len(self.consumer.rows(each)) for each in ("readings", "errors")) == wanted
            ),
            seconds,
        )
        rows = (self.consumer.rows(table) for table in ("readings", "errors"))
        self.model.compare(*rows, trials)

    def wait_for_problem(self, mapping: str, said: str) -> None:
        """Wait until the mapping tells of a failure and the function of this one."""
        wait_until(f"{said} in the log", lambda: self._has_logged(said), 60)
        # The function logs its failure before it ends; the mapping learns of it afterwards.
        wait_until("a PROBLEM of the mapping", lambda: "PROBLEM" in self._result(mapping))

    def _result(self, mapping: str) -> str:
        return str(get(self.consumer.at_home, mapping)["LastProcessingResult"])

    def is_empty(self) -> bool:
        """Whether nothing was written or given up."""
        return self.consumer.rows("readings") == self.consumer.rows("errors") == []

    def _count(self) -> tuple[int, ...]:
        return tuple(len(self.consumer.rows(table)) for table in ("readings", "errors"))

    def _has_logged(self, text: str) -> bool:
        logs = self.consumer.at_home("logs")
        try:
            found = logs.filter_log_events(logGroupName=f"/aws/lambda/{self.consumer.function}")
        except logs.exceptions.ResourceNotFoundException:  # before its first line
            return False
        return any(text in event["message"] for event in found["events"])


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
            with flow.second_member(group):
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
