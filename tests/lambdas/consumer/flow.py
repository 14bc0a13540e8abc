"""A topic with a model, and the consumer that a mapping gives its records to."""

from __future__ import annotations

from typing import Any

from kafka import KafkaProducer

from localcloud.brokers import BrokerCluster
from localcloud.testing import wait_until
from localcloud.testing.mappings import create_topic, get, mapped
from systems.consumers import Consumer
from systems.trials import Trials
from tests.lambdas.consumer.model import Model


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

    def await_rows(self, seconds: float = 60) -> None:
        """Wait for as many rows as there must be."""
        wait_until(f"{self.wanted} rows", lambda: self.count() == self.wanted, seconds)

    def check_rows(self, trials: Trials | None = None) -> None:
        """Demand that the rows are those of the model, and count them."""
        rows = (self.consumer.rows(table) for table in ("readings", "errors"))
        self.model.compare(*rows, trials)

    def wait_for_problem(self, mapping: str, said: str, before: int = 0) -> None:
        """Wait until the mapping tells of a failure and the function of this one, once more."""
        self.wait_for_log(said, before)
        # The function logs its failure before it ends; the mapping learns of it afterwards.
        wait_until("a PROBLEM of the mapping", lambda: "PROBLEM" in self._result(mapping))

    def _result(self, mapping: str) -> str:
        return str(get(self.consumer.at_home, mapping)["LastProcessingResult"])

    @property
    def wanted(self) -> tuple[int, ...]:
        """How many readings and errors there must be."""
        return len(self.model.readings), len(self.model.errors)

    def count(self) -> tuple[int, ...]:
        """How many readings and errors there are."""
        return tuple(len(self.consumer.rows(table)) for table in ("readings", "errors"))

    def wait_for_log(self, said: str, before: int = 0) -> None:
        """Wait until the function has logged a text more often than before."""
        wait_until(f"{said} in the log", lambda: self.count_logged(said) > before, 60)

    def count_logged(self, text: str) -> int:
        """How many lines of the function's log have a text."""
        logs = self.consumer.at_home("logs")
        pages = logs.get_paginator("filter_log_events")
        group = f"/aws/lambda/{self.consumer.function}"
        try:
            found = [page["events"] for page in pages.paginate(logGroupName=group)]
        except logs.exceptions.ResourceNotFoundException:  # before its first line
            return 0
        return sum(text in event["message"] for events in found for event in events)
