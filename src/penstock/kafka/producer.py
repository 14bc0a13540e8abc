"""A producer: all in-sync replicas acknowledge a record, or the send fails by its deadline."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from threading import RLock
from typing import Any, Final

from kafka import KafkaProducer
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
)

from penstock.errors import (
    BrokerError,
    BrokerUnavailableError,
    DeliveryError,
    RecordTooLargeError,
)
from penstock.kafka._failures import translate, translated_kafka_errors
from penstock.kafka.login import client_options, import_login
from penstock.kafka.probe import check_access
from penstock.kafka.settings import KafkaSettings

_CLOSE_SECONDS = 1.0
_BACKOFF_MS = 20
# Four times the default: half the requests, and two thirds of the CPU time, for a large batch.
_BATCH_BYTES = 64 * 1024
MAX_RECORD_BYTES: Final = 1_048_576  # as topics by default

# Shares of the deadline that the steps before a delivery may take; the delivery has the rest.
_PROBE_SHARE = 1 / 2
_BOOTSTRAP_SHARE = 1 / 4
_METADATA_SHARE = 1 / 4


@dataclass(frozen=True, slots=True)
class Message:
    """A record to send; records with the same key go to the same partition.

    `timestamp_ms` counts if the topic has `CreateTime`; without it, it is the time of the send.
    """

    topic: str
    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The topic, partition and offset of an acknowledged record."""

    topic: str
    partition: int
    offset: int


def open_producer(settings: KafkaSettings, *, deadline_seconds: float = 10.0) -> Producer:
    """Return a producer that is logged in; `deadline_seconds` holds for each send.

    Raises:
        BrokerError: no broker can be used; the subclass says why.
    """
    producer = Producer(settings, deadline_seconds)
    producer.connect()
    return producer


class Producer(AbstractContextManager["Producer"]):
    """An idempotent, thread-safe producer that connects at the first use.

    After a failure the next send checks brokers and topics again and builds a new client.
    kafka-python's client may be in a state that it never leaves, for example after a refused
    registration of the producer, and would then refuse every record.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        deadline_seconds: float,
        max_record_bytes: int = MAX_RECORD_BYTES,
    ) -> None:
        import_login(settings)
        self._settings = settings
        self._max_record_bytes = max_record_bytes
        self._deadline_seconds = deadline_seconds
        self._client: KafkaProducer | None = None
        self._in_doubt = False
        self._known_topics: set[str] = set()
        self._lock = RLock()

    def connect(self, topics: Iterable[str] = (), seconds: float | None = None) -> KafkaProducer:
        """Return a connected client, after checking the login and topics that are not yet known.

        Raises:
            BrokerError: no broker can be used, or a topic does not exist or may not be used.
        """
        seconds = self._deadline_seconds if seconds is None else seconds
        deadline = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise BrokerUnavailableError(f"another send was still connecting after {seconds:g} s")
        try:
            unknown = set(topics) - self._known_topics
            if self._client is not None and not self._in_doubt and not unknown:
                return self._client
            options = client_options(self._settings)
            left = deadline - time.monotonic()
            options = check_access(options, sorted(unknown), left * _PROBE_SHARE)
            self._known_topics |= unknown
            if self._client is None or self._in_doubt:
                self.close()
                self._client = _build_client(
                    options, self._deadline_seconds, self._max_record_bytes
                )
                self._in_doubt = False
            return self._client
        finally:
            self._lock.release()

    def send(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> Delivery:
        """Send one record and wait until all in-sync replicas have it.

        Raises:
            DeliveryError: not acknowledged within the deadline; it may or may not be written.
            TopicNotFoundError, TopicForbiddenError, RecordTooLargeError: it is not written.
            BrokerLoginError and similar: no broker can be used, it is not written.
        """
        outcome = self.send_all([Message(topic, value, key, tuple(headers))])[0]
        if isinstance(outcome, BrokerError):
            raise outcome
        return outcome

    def send_all(
        self, messages: Sequence[Message], *, seconds: float | None = None
    ) -> list[Delivery | BrokerError]:
        """Send records under one deadline and return the delivery or the error of each.

        Args:
            messages: the records; the records of one partition are written in this order.
            seconds: the deadline, if it is shorter than the producer's own.

        Raises:
            BrokerError: a topic or every broker is unusable, and nothing was sent.
        """
        own = self._deadline_seconds
        seconds = own if seconds is None else min(own, seconds)
        deadline = time.monotonic() + seconds
        client = self.connect({message.topic for message in messages}, seconds)
        pending = self._enqueue(client, messages, deadline)
        return [
            future
            if isinstance(future, BrokerError)
            else self._await(message, future, deadline - time.monotonic())
            for message, future in zip(messages, pending, strict=True)
        ]

    def close(self) -> None:
        """Close the connections, after waiting at most one second for pending records."""
        with self._lock:
            if self._client is not None:
                # After a failure there may be pending records that no caller waits for.
                with suppress(KafkaTimeoutError):
                    self._client.close(timeout=_CLOSE_SECONDS)
                self._client = None

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def _enqueue(
        self, client: KafkaProducer, messages: Sequence[Message], deadline: float
    ) -> list[Any]:
        """Pass records to kafka-python and return a future or an error for each.

        Nothing is passed after the deadline: the sender is told that it was not delivered.
        """
        pending: list[Any] = []
        silent: KafkaTimeoutError | None = None
        for message in messages:
            if time.monotonic() >= deadline:
                pending.append(
                    DeliveryError(f"a record for topic {message.topic!r} was not sent in time")
                )
                continue
            try:
                # Each record would wait again for brokers that do not name the topic's leaders.
                if silent is not None:
                    raise silent
                sent = client.send(
                    message.topic,
                    message.value,
                    message.key,
                    list(message.headers),
                    timestamp_ms=message.timestamp_ms,
                )
            except MessageSizeTooLargeError:
                expected = f"PENSTOCK_MAX_RECORD_BYTES, {self._max_record_bytes:,}: raise it and"
                sent = _refuse_size(message, f"{expected} the topic's max.message.bytes")
            except KafkaError as error:
                silent = error if isinstance(error, KafkaTimeoutError) else silent
                sent = self._explain(message, error)
            pending.append(sent)
        return pending

    def _await(self, message: Message, future: Any, seconds: float) -> Delivery | BrokerError:
        try:
            metadata = future.get(max(0.0, seconds))
        except KafkaError as error:
            return self._explain(message, error)
        return Delivery(metadata.topic, metadata.partition, metadata.offset)

    def _explain(self, message: Message, error: KafkaError) -> BrokerError:
        problem = f"a record for topic {message.topic!r} was not acknowledged"
        ours = translate(error, f"{problem} within {self._deadline_seconds:g} s", DeliveryError)
        ours.__cause__ = error
        self._in_doubt = True
        self._known_topics.clear()
        if isinstance(ours, RecordTooLargeError):
            return _refuse_size(message, "the topic's max.message.bytes: raise it")
        return ours


def _refuse_size(message: Message, expected: str) -> RecordTooLargeError:
    size = len(message.value or b"") + len(message.key or b"")
    return RecordTooLargeError(
        f"found a record of {size:,} bytes for topic {message.topic!r}, expected at most "
        f"{expected}, or send less"
    )


def _build_client(
    options: dict[str, Any], deadline_seconds: float, max_record_bytes: int
) -> KafkaProducer:
    deadline_ms = int(deadline_seconds * 1000)
    with translated_kafka_errors("the producer cannot start"):
        return KafkaProducer(
            **options,
            acks="all",
            batch_size=_BATCH_BYTES,
            enable_idempotence=True,
            allow_auto_create_topics=False,
            max_request_size=max_record_bytes,
            bootstrap_timeout_ms=int(deadline_ms * _BOOTSTRAP_SHARE),
            max_block_ms=int(deadline_ms * _METADATA_SHARE),
            delivery_timeout_ms=deadline_ms,
            # A broker that hangs must leave time for a retry within the deadline.
            request_timeout_ms=deadline_ms // 2,
            # The first record of each environment waits for one backoff: the client asks for a
            # topic's leaders this long after it asked for the brokers.
            retry_backoff_ms=_BACKOFF_MS,
        )
