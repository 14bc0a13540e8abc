"""A service that writes a message to a topic every few seconds, and logs those of another topic.

    TOPIC1=foo-topic TOPIC2=bar-topic GROUP=analytics-service-a-1 MSG_FREQ=10 LOG_LEVEL=debug \
        python examples/services/service.py

Brokers and login are variables of Penstock's settings: KAFKA_BOOTSTRAP_SERVERS, KAFKA_SECURITY and
KAFKA_SECRET_ARN. A message is written again until a broker has it, and read again if the service
ends before it has committed the offset: at least once. A topic or group that is not granted ends
the service with a sentence.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from threading import Event

from penstock.errors import BrokerLoginError, PenstockError, TopicForbiddenError
from penstock.kafka import Consumer, KafkaSettings, Producer, open_consumer, open_producer
from penstock.settings import Settings, nested, setting

_LOG = logging.getLogger("service")
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ServiceSettings(Settings):
    """The topics, the consumer group and the interval of the service."""

    kafka: KafkaSettings = nested(KafkaSettings)
    topic1: str = setting("TOPIC1", "the topic that it writes")
    topic2: str = setting("TOPIC2", "the topic that it reads")
    group: str = setting("GROUP", "its consumer group")
    seconds: float = setting(
        "MSG_FREQ", "seconds between two messages; 0 to write none", parse=float, default=60.0
    )
    host: str = setting("HOSTNAME", "its name in messages", default=socket.gethostname())
    log_level: str = setting("LOG_LEVEL", "debug, info, warning or error", default="info")


def run(settings: ServiceSettings, stop: Event) -> int:
    """Write and read until it is stopped, and return how many messages were written.

    Raises:
        PenstockError: the brokers refuse the login, a topic or the group.
    """
    written, admitted = 0, False
    while not stop.is_set():
        try:
            with (
                open_producer(settings.kafka) as producer,
                open_consumer(settings.kafka, settings.topic2, group_id=settings.group) as consumer,
            ):
                admitted = True
                while not stop.is_set():
                    if settings.seconds:
                        write(producer, settings, written + 1)
                        written += 1
                    read(consumer, settings, stop)
        except TopicForbiddenError as error:
            raise TopicForbiddenError(
                f"{error}; {settings.host} must write {settings.topic1}, read {settings.topic2} "
                f"and join {settings.group}: grant this to its program in the producer's root"
            ) from error
        except PenstockError as error:
            # A login that was admitted before is being rotated: the next one reads the secret.
            rotated = admitted and isinstance(error, BrokerLoginError)
            if not (error.retriable or rotated):
                raise
            _LOG.warning("%s: %s; trying again", settings.host, error)
            stop.wait(_PAUSE_SECONDS)
    return written


def write(producer: Producer, settings: ServiceSettings, number: int) -> None:
    """Write a message; after an error it may be written or not."""
    text = f"This is message {number} from host {settings.host}"
    delivery = producer.send(settings.topic1, text.encode())
    _LOG.debug("writing 1 messages to %s (partition: %d)", settings.topic1, delivery.partition)


def read(consumer: Consumer, settings: ServiceSettings, stop: Event) -> None:
    """Log the messages that come until the next one is due, and commit their offsets."""
    due = time.monotonic() + (settings.seconds or _PAUSE_SECONDS)
    while (left := due - time.monotonic()) > 0 and not stop.is_set():
        if records := consumer.poll(min(left, _PAUSE_SECONDS)):
            for record in records:
                # A tombstone has no value, and other programs may write any bytes.
                text = (record.value or b"").decode(errors="backslashreplace")
                _LOG.debug("%s received message: %s", settings.host, text)
            consumer.commit()


def main() -> None:
    settings = ServiceSettings.from_environ(os.environ)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stdout)
    _LOG.setLevel(settings.log_level.upper())
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        run(settings, stop)
    except PenstockError as error:
        sys.exit(f"{settings.host}: {error}")


if __name__ == "__main__":
    main()
