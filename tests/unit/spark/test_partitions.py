"""The partitions that a job finds when it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from penstock.attempts import Attempts
from penstock.errors import BrokerUnavailableError
from penstock.kafka import KafkaSettings, Security
from penstock.spark.query import source
from penstock.spark.settings.consume import ReadSettings

_KAFKA = KafkaSettings(bootstrap_servers=["b-1:9092"], security=Security.PLAINTEXT)
_READ = ReadSettings(topics=("sensor",))


@dataclass
class Brokers:
    """They are down for so many seconds, which pass in pauses alone."""

    down: float
    now: float = 0.0
    asked: list[float] = field(default_factory=list)

    def open_consumer(self, settings: KafkaSettings) -> Brokers:
        assert settings is _KAFKA
        self.asked.append(self.now)
        if self.now < self.down:
            raise BrokerUnavailableError("b-1:9092 cannot be reached")
        return self

    def find_partitions(self, is_read: Callable[[str], bool]) -> dict[str, set[int]]:
        return {topic: {0, 1} for topic in ("order", "sensor") if is_read(topic)}

    def close(self) -> None: ...

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def attempts(self) -> Attempts:
        return Attempts(1, 15, 120, sleep=self.wait, clock=lambda: self.now)


def test_a_job_that_starts_while_all_brokers_are_down_waits_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brokers = Brokers(down=60)
    monkeypatch.setattr(source, "open_consumer", brokers.open_consumer)

    found = source.find_partitions(_KAFKA, _READ, brokers.attempts())

    assert found == {"sensor": {0, 1}}
    assert brokers.asked == [0, 1, 3, 7, 15, 30, 45, 60]


def test_it_ends_if_they_are_down_for_two_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(down=1_000)
    monkeypatch.setattr(source, "open_consumer", brokers.open_consumer)

    with pytest.raises(BrokerUnavailableError, match="b-1:9092 cannot be reached"):
        source.find_partitions(_KAFKA, _READ, brokers.attempts())

    assert brokers.asked[-1] == 120
