"""Event source mappings with Penstock's consumer function: a module of the handler for each change.

A mapping polls a topic, invokes the function with a batch, and commits when it returns. After an
error it delivers the same batch again, as Lambda does.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kafka import KafkaConsumer

from systems.answering import answer, take_output
from systems.place import ROOT

_HANDLER: Final = ROOT / "lambdas/consumer/handler.py"
_BATCH: Final = 100
_AGAIN_SECONDS: Final = 2
_POLL_MS: Final = 1_000
Handler = Callable[[Any, Any], Any]


class _Context:
    function_name, memory_limit_in_mb, aws_request_id = "proof", 512, "0" * 36
    invoked_function_arn = "arn:aws:lambda:eu-central-1:111111111111:function:proof"

    def get_remaining_time_in_millis(self) -> int:
        """Return a time-out that is far away."""
        return 30_000


def main() -> None:
    """Answer until the other side ends."""
    answers = take_output()

    def start(change: str, table: str) -> str:
        handler = _load(change, table)
        threading.Thread(target=_map, args=(change, handler), daemon=True).start()
        return ""

    answer(answers, {"start": start, "why_ended": lambda change: ""})


def _load(change: str, table: str) -> Handler:
    os.environ["PENSTOCK_READINGS_TABLE"] = table
    spec = importlib.util.spec_from_file_location(f"handler_{change}", _HANDLER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.lambda_handler
    return handler


def _map(topic: str, handler: Handler) -> None:
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=os.environ["PROOF_SERVERS"],
        group_id=f"function-{topic}",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=_BATCH,
    )
    while True:
        for place, records in consumer.poll(_POLL_MS).items():
            _deliver(handler, {f"{place.topic}-{place.partition}": list(map(_entry, records))})
            consumer.commit()


def _deliver(handler: Handler, records: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    event = {"eventSource": "SelfManagedKafka", "bootstrapServers": "", "records": records}
    while True:
        try:
            handler(event, _Context())
            return
        except Exception as error:  # the mapping tries again, whatever it is
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            time.sleep(_AGAIN_SECONDS)


def _entry(record: Any) -> dict[str, Any]:
    entry = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestampType": "CREATE_TIME",
        "key": b64encode(record.key).decode(),
        "headers": [{name: list(value)} for name, value in record.headers],
    }
    if record.value is not None:
        entry["value"] = b64encode(record.value).decode()
    return entry


if __name__ == "__main__":
    main()
