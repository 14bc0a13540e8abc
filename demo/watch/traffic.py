"""Write to topics in waves, and read them as a group: `traffic.py SECONDS TOPIC ...`.

It runs on a client host, which has the brokers and the login in its environment.
"""

from __future__ import annotations

import os
import sys
import time

from penstock.kafka import KafkaSettings, Message, open_consumer, open_producer

_GROUP = "shell-watch"
_BYTES = 500
_PAUSE_SECONDS = 0.5


def main() -> None:
    """Write and read; the second topic gets half of the first one's records, and so on."""
    seconds, topics = float(sys.argv[1]), sys.argv[2:]
    settings = KafkaSettings.from_environ(os.environ)
    end, burst = time.monotonic() + seconds, 0
    with (
        open_producer(settings) as producer,
        open_consumer(settings, *topics, group_id=_GROUP) as consumer,
    ):
        while time.monotonic() < end:
            burst += 1
            for number, topic in enumerate(topics):
                records = (20 + 60 * (burst // 20 % 2)) >> number
                producer.send_all([Message(topic, bytes(_BYTES)) for _ in range(records)])
            consumer.poll(_PAUSE_SECONDS)
            consumer.commit()
            time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    main()
