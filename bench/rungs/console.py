"""The rung of the console: the time to the rows of a large topic, and the memory that it takes."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

from confluent_kafka import KafkaError, Producer

from bench.ladder import Form, Result, most
from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.kafka import KafkaSettings, Security, Topic, ensure_topic
from penstock.registry import (
    RegistryBackup,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    write_backup,
)
from penstock.schemas import Compatibility, compile_encoder
from systems.brokers import running_broker

_TOPIC = "bench"
_KEY = str(uuid.UUID(int=1))
_SCHEMA = {
    "type": "record",
    "name": "sensor",
    "fields": [{"name": "deviceId", "type": "string"}, {"name": "temperature", "type": "long"}],
}
_PLACES = {"newest": "-20", "first": "beginning"}
_MEBIBYTE_IN_KIBIBYTES = 1024
# The kernel counts the memory of the process that starts it too, unless it asks for its own.
_READ = """
import re, sys, time
from pathlib import Path
from penstock.cli import main
main(["read", sys.argv[1], "--count", "1000", "--output", "json"])
peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
print(time.process_time(), peak)
"""


def _write_topic(servers: str, count: int) -> None:
    settings = KafkaSettings((servers,), Security.PLAINTEXT)
    ensure_topic(settings, Topic(_TOPIC, partitions=3))
    failed: list[object] = []
    encode, key = compile_encoder(_SCHEMA), SchemaKey.parse(_KEY)
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 50,
            "queue.buffering.max.messages": max(count, 1_000),
        }
    )

    def note(error: KafkaError | None, _: object) -> None:
        if error:
            failed.append(error)

    for number in range(count):
        payload = encode({"deviceId": f"{number % 1_000:06}", "temperature": number})
        value = encode_glue_frame(key, payload)
        producer.produce(_TOPIC, value, on_delivery=note)
        if number % 10_000 == 0:
            producer.poll(0)
    if producer.flush(120) or failed:
        raise AssertionError(f"the broker did not take all records: {failed[:1]}")


def _write_backup(path: Path) -> None:
    version = StoredVersion(
        _KEY, "bench/sensor", 1, VersionStatus.AVAILABLE, json.dumps(_SCHEMA), None
    )
    schema = SchemaBackup("sensor", Compatibility.BACKWARD, 1, "AVRO", "", {}, (version,))
    path.write_text(write_backup(RegistryBackup("bench", FrameKind.GLUE, (schema,))))


@contextmanager
def _console(environ: Mapping[str, str]) -> Iterator[tuple[OpenerDirector, str, int]]:
    """Start a console, and yield a browser that it let in, its address and its process."""
    words = [sys.executable, "-m", "penstock.cli", "console", "--output=json"]
    with subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["address"]
            browser = build_opener(HTTPCookieProcessor(CookieJar()))
            browser.open(address).read()
            yield browser, address.partition("?")[0], process.pid
        finally:
            process.terminate()


def _time_page(browser: OpenerDirector, address: str, place: str) -> float:
    started = time.perf_counter()
    with browser.open(f"{address}records?topic={_TOPIC}&from={place}&count=100") as answer:
        page = answer.read().decode()
    seconds = time.perf_counter() - started
    if "sensor v1" not in page:
        raise AssertionError(page)
    return seconds


def _show(form: Form) -> Result:
    records = form.records // 2
    with TemporaryDirectory() as folder, running_broker(Path(folder, "broker")) as servers:
        backup = Path(folder, "registry.jsonl")
        _write_backup(backup)
        _write_topic(servers, records)
        environ = {
            "HOME": folder,
            "KAFKA_BOOTSTRAP_SERVERS": servers,
            "KAFKA_SECURITY": "plaintext",
            "PATH": os.environ["PATH"],
            "PENSTOCK_REGISTRY_BACKUPS": str(backup),
        }
        with _console(environ) as (browser, address, pid):
            times = {
                name: statistics.median(
                    _time_page(browser, address, place) for _ in range(1 + 4 * (form.turns > 1))
                )
                for name, place in _PLACES.items()
            }
            own = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
        read = subprocess.run(
            [sys.executable, "-c", _READ, _TOPIC],
            env=environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert own is not None
    parts = {f"{name}_seconds": round(seconds, 2) for name, seconds in times.items()}
    parts["console_mebibytes"] = round(int(own[1]) / _MEBIBYTE_IN_KIBIBYTES)
    cpu_seconds, peak = read.stdout.split()[-2:]
    parts["command_seconds_of_cpu"] = round(float(cpu_seconds), 2)
    parts["command_mebibytes"] = round(int(peak) / _MEBIBYTE_IN_KIBIBYTES)
    return Result(max(times.values()), "seconds", {"records": float(records), **parts})


CONSOLE = (
    most(
        "console-rows",
        "How soon does the console show 100 rows of a topic of 1,000,000 records?",
        1,
        _show,
    ),
)
