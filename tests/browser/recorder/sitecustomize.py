"""Runs at the start of each Python on the console's host: adds Kafka's requests to a file."""

import os
from pathlib import Path

from kafka.net.connection import KafkaConnection

_FILE = Path(os.environ["KAFKA_CALLS"])
_send = KafkaConnection._send_request


def _record(self, request, *words, **options):
    with _FILE.open("a") as file:
        file.write(f"{type(request).__name__}\n")
    return _send(self, request, *words, **options)


KafkaConnection._send_request = _record
