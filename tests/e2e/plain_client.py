"""A Kafka client that knows nothing of Penstock: prints each record it reads as one JSON line."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from base64 import b64encode
from contextlib import closing

from kafka import KafkaConsumer


def main() -> int:
    """Read COUNT records of TOPIC from the beginning; 1 when they do not come in SECONDS.

    ONLY is a partition and an offset, as in 0/7: all others are passed over.
    """
    logging.basicConfig(level=logging.WARNING)  # what kafka-python does not raise, it logs
    given = os.environ
    wanted, found = int(given["COUNT"]), 0
    client = KafkaConsumer(
        given["TOPIC"],
        bootstrap_servers=given["BOOTSTRAP_SERVERS"].split(","),
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_plain_username=given["USERNAME"],
        sasl_plain_password=given["PASSWORD"],
        ssl_cafile=given["CA_FILE"],
        group_id=given["GROUP"],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        bootstrap_timeout_ms=8_000,
        metadata_max_age_ms=1_000,
    )
    deadline = time.monotonic() + float(given["SECONDS"])
    with closing(client):
        while found < wanted and time.monotonic() < deadline:
            for records in client.poll(500).values():
                for record in records:
                    if given["ONLY"] in {"", f"{record.partition}/{record.offset}"}:
                        found += 1
                        print(json.dumps(_show(record)), flush=True)
    return 0 if found >= wanted else 1


def _show(record) -> dict:
    return {
        "partition": record.partition,
        "offset": record.offset,
        "value": b64encode(record.value).decode(),
    }


if __name__ == "__main__":
    sys.exit(main())
