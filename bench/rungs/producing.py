"""Rungs of a producer's throughput: one broker, acks=all, against Kafka's own performance test."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random

from bench.ladder import Form, Result, Turns, choose, least, race, ratio, reported, speeds
from bench.rungs.one_broker import TOPIC, URL, running_world
from localcloud.jars import JARS
from penstock.cli import main
from penstock.framing import encode_glue_frame
from penstock.kafka import KafkaSettings, Message, Producer, Topic, ensure_topic
from penstock.registry import load_registry
from penstock.schemas import compile_encoder, compile_sampler

_JARS = JARS / "broker"
_TEST = "org.apache.kafka.tools.ProducerPerformance"
_SENT = re.compile(r"records sent, ([0-9.]+) records/sec")
_CALL_RECORDS, _BATCH, _TURNS = 50, 1_000, 2
_COMMAND_SHARE = 5  # of the records: the command generates and encodes each of them
_DOUBLES, _STRINGS = ([f"{kind}{at}" for at in range(9)] for kind in "ds")
_SCHEMA = {
    "type": "record",
    "name": "sensor",
    "fields": [
        {"name": "deviceId", "type": "string"},
        {"name": "timestamp", "type": "long"},
        *({"name": name, "type": ["null", "double"], "default": None} for name in _DOUBLES),
        *({"name": name, "type": ["null", "string"], "default": None} for name in _STRINGS),
    ],
}


@contextmanager
def _world() -> Iterator[tuple[dict[str, str], Callable[[], int]]]:
    """Yield the environment of a producer, and a function that counts the calls of the registry."""
    with running_world(_SCHEMA) as (folder, environ):

        def count_calls() -> int:
            return (folder / "cloud/calls.jsonl").read_text().count('"service": "glue"')

        ensure_topic(KafkaSettings.from_environ(environ), Topic(TOPIC, partitions=1))
        yield environ, count_calls


def _make_messages() -> list[Message]:
    """Return a batch of records as the command makes them."""
    version = load_registry(URL).latest("sensor")
    assert version is not None
    sample, encode = compile_sampler(_SCHEMA), compile_encoder(_SCHEMA)
    events = [sample(random) for random in map(Random, range(_BATCH))]
    return [
        Message(TOPIC, encode_glue_frame(version.key, encode(event)), event["deviceId"].encode())
        for event in events
    ]


def _send(environ: Mapping[str, str], messages: list[Message], records: int) -> float:
    with Producer(KafkaSettings.from_environ(environ), 30) as producer:
        producer.connect([TOPIC])
        started = time.perf_counter()
        for _ in range(records // _BATCH):
            producer.send_all(messages)
        return time.perf_counter() - started


def _run_command(environ: Mapping[str, str], records: int) -> float:
    """Run the command for fewer records, and return its seconds for as many as the others have."""
    words = ["produce", "--records", str(records // _COMMAND_SHARE), "--quiet", "--output", "json"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(words, environ) == 0
    seconds: float = json.loads(printed.getvalue())["summary"]["seconds"]
    return seconds * _COMMAND_SHARE


def _run_test(servers: str, size: int, records: int) -> float:
    """Run Kafka's performance test; its own seconds, which leave out the start of the JVM."""
    words = ["java", "-cp", f"{_JARS}/*", _TEST, "--topic", TOPIC, "--throughput", "-1"]
    words += ["--num-records", str(records), "--record-size", str(size)]
    words += ["--command-property", f"bootstrap.servers={servers}", "acks=all"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True)
    return records / float(_SENT.findall(done.stdout)[-1])


@functools.cache  # two rungs report one race
def _race(form: Form) -> tuple[Turns, int, dict[str, float]]:
    records = min(form.calls, 2_000) * _CALL_RECORDS
    with _world() as (environ, count_calls):
        servers = environ["KAFKA_BOOTSTRAP_SERVERS"]
        messages = _make_messages()
        size = sum(len(each.value or b"") for each in messages) // len(messages)
        before = count_calls()
        turns = race(
            {
                "test": lambda: _run_test(servers, size, records),
                "sent": lambda: _send(environ, messages, records),
                "command": lambda: _run_command(environ, records),
            },
            _TURNS,
        )
        calls = (count_calls() - before) / (_TURNS + 1)
    parts = {"record_bytes": size, "registry_calls_a_command": round(calls, 1)}
    return turns, records, parts


def _measure(way: str, form: Form) -> Result:
    turns, records, parts = _race(form)
    found = speeds(choose(turns, ["test", way]), records)
    return Result(ratio(turns, way, "test"), "times", found | parts)


PRODUCING = (
    least(
        "produce-batches",
        "How fast are encoded records written, acks=all, against `kafka-producer-perf-test`?",
        0.5,
        functools.partial(_measure, "sent"),
    ),
    reported(
        "produce-command",
        "How fast does `penstock produce` make, encode and write events, against the same?",
        functools.partial(_measure, "command"),
    ),
)
