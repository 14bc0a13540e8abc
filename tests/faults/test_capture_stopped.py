"""The log of a real connector that stops names the page of the reason."""

from __future__ import annotations

import os
import shutil
from contextlib import closing, contextmanager, suppress

import pytest
from kafka import TopicPartition

from localcloud.errors import WorkerStartError
from localcloud.testing import wait_until
from penstock.extensions.cdc.connector import find_reason
from penstock.kafka import Security
from penstock.operations.topics import ReadSettings, read_records
from penstock.records import KeyFormat
from systems.capture import HEARTBEAT, PARAMETERS, capturing
from systems.clusters import OPEN, running_brokers

pytestmark = [pytest.mark.kafka, pytest.mark.nightly]

_TOPIC = "films.public.film"
_CREATE = """
CREATE TABLE film (id int PRIMARY KEY, plot text);
INSERT INTO film VALUES (1, 'a captain and a river');
CREATE ROLE plain LOGIN PASSWORD 'plain';
GRANT SELECT ON film TO plain;
CREATE PUBLICATION penstock FOR TABLE film;
"""
_NOWHERE = {
    f"{part}__converter__apicurio__registry__url": "http://127.0.0.1:9/apis/registry/v2"
    for part in ("key", "value")
}
# Java of the worker. While there is a file `full`, its folder for temporary files has 64 KiB.
_JAVA = """#!/bin/sh
folder=$(dirname "$0")
if [ ! -e "$folder/full" ]; then exec {java} "$@"; fi
mkdir -p "$folder/scratch"
exec unshare --user --map-root-user --mount sh -c '
  mount -t tmpfs -o size=64k tmpfs "$0" && exec {java} -Djava.io.tmpdir="$0" "$@"
' "$folder/scratch" "$@"
"""
# Debezium tells the slot after Kafka Connect has written the offsets.
_KEPT = "SELECT confirmed_flush_lsn"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with the worker's Java, which comes first on the path."""
    folder = tmp_path_factory.mktemp("programs")
    java = folder / "java"
    java.write_text(_JAVA.format(java=shutil.which("java")))
    java.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        yield folder


@pytest.fixture(scope="module")
def brokers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kafka")
    with running_brokers(folder, broker_count=1, properties=OPEN) as running:
        yield running


@pytest.fixture(scope="module")
def running(tmp_path_factory, programs, brokers):
    folder = tmp_path_factory.mktemp("capture")
    with capturing(folder, brokers.cluster, {}) as capture:
        capture.query(_CREATE)
        yield capture


@contextmanager
def _parameters(running, **changes):
    """Restart the database with other parameters, and restore them."""
    for parameters in ({**PARAMETERS, **changes}, PARAMETERS):
        running.database.stop()
        running.database.start(parameters)
        if parameters is not PARAMETERS:
            yield


@contextmanager
def _stopped_by(running, reason):
    """Check that the log of the worker gets to name this reason."""
    begun = running.worker.log.stat().st_size

    def find():
        with running.worker.log.open("rb") as log:
            log.seek(begun)
            return find_reason(log.read().decode())

    yield
    wait_until(f"it is {reason}", lambda: find() == reason, seconds=120)


def _try(running, name, **settings):
    """Create a connector, which Kafka Connect may refuse."""
    with suppress(WorkerStartError):
        running.worker.put_connector(name, running.settings(name, "public.film", **settings))


def _end(running, name):
    """End a connector and its slot."""
    with suppress(WorkerStartError):  # it was not made
        running.worker.act(name, "stop")
    if running.query(f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{name}'"):
        _drop_slot(running, name)


def _keep_offsets(running, name):
    """Change rows, and wait until Kafka Connect has kept the place after them: HEARTBEAT tells."""
    position = running.query("SELECT pg_current_wal_lsn()")
    running.query("UPDATE film SET plot = plot || '.'")
    kept = f"{_KEPT} > '{position}' FROM pg_replication_slots WHERE slot_name = '{name}'"
    wait_until("its offsets are kept", lambda: running.query(kept) == "t", seconds=120)


def _drop_slot(running, name):
    free = f"SELECT NOT active FROM pg_replication_slots WHERE slot_name = '{name}'"
    wait_until("the slot is free", lambda: running.query(free) == "t")
    running.query(f"SELECT pg_drop_replication_slot('{name}')")


def test_a_database_without_logical_decoding(running):
    with _parameters(running, wal_level="replica"), _stopped_by(running, "capture-wal-level"):
        _try(running, "level")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"database__user": "plain", "database__password": "plain"}, "capture-not-replicating"),
        ({"database__password": "wrong"}, "capture-login-refused"),
        ({"publication__name": "nothing"}, "capture-publication-missing"),
        ({"table__include__list": "public.nothing"}, "capture-table-missing"),
        (_NOWHERE, "capture-registry-unreachable"),
        ({"database__port": "9"}, "capture-database-unreachable"),
    ],
)
def test_a_connector_that_cannot_start(running, settings, reason):
    name = reason.replace("-", "_")
    with _stopped_by(running, reason):
        _try(running, name, **settings)
    _end(running, name)


def test_no_slot_is_free(running):
    with _parameters(running, max_replication_slots="1"):
        running.query("SELECT pg_create_logical_replication_slot('other', 'pgoutput')")
        with _stopped_by(running, "capture-slots-in-use"):
            _try(running, "full")
        running.query("SELECT pg_drop_replication_slot('other')")
    _end(running, "full")


def test_a_slot_that_was_dropped(running):
    running.connect("dropped", "public.film", **HEARTBEAT)
    _keep_offsets(running, "dropped")
    running.worker.act("dropped", "stop")
    _drop_slot(running, "dropped")
    with _stopped_by(running, "capture-slot-missing"):
        running.worker.act("dropped", "resume")


def test_a_log_that_was_removed(running, fault):
    """The slot is given up while its connector is stopped for too long."""
    trials = fault("capture-log")
    running.connect("removed", "public.film", **HEARTBEAT)
    running.worker.act("removed", "stop")
    state = "SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'removed'"
    with _parameters(running, max_slot_wal_keep_size="1MB"):
        for _ in range(3):
            running.query("UPDATE film SET plot = plot || '.'")
            running.database.query("SELECT pg_switch_wal()")
        running.database.query("CHECKPOINT")
        trials.count(1, fired=running.query(state) == "lost")
        with _stopped_by(running, "capture-log-removed"):
            running.worker.act("removed", "resume")
        _end(running, "removed")


def test_the_disk_of_a_worker_is_full(running, brokers, programs, fault):
    """It cannot unpack the library that compresses; what it could not send is sent afterwards."""
    trials = fault("capture-worker-disk")
    compressing = {"producer__override__compression__type": "zstd"}
    running.connect("cramped", "public.film", **HEARTBEAT, **compressing)
    _keep_offsets(running, "cramped")  # without them it would take another snapshot
    running.worker.kill()
    (programs / "full").touch()
    running.query("INSERT INTO film VALUES (2, 'an heir'), (3, 'a lake')")
    running.query("DELETE FROM film WHERE id = 3")
    sent = _find_end(brokers)
    with _stopped_by(running, "capture-worker-disk-full"):
        running.worker.start()
    running.worker.kill()
    (programs / "full").unlink()
    running.worker.start()
    with trials.recovery():
        wait_until("all is sent", lambda: _find_end(brokers) >= sent + 4, seconds=120)
    wanted = [(2, "c"), (3, "c"), (3, "d"), (3, None)]  # at last a tombstone
    trials.check(_read_changes(running, brokers, sent), dict(enumerate(wanted, sent)))
    trials.count_seen(1)
    _end(running, "cramped")


def _read_changes(running, brokers, start):
    """Read the id and the operation of each record from an offset on, by offset."""
    kafka = brokers.settings(Security.PLAINTEXT)
    settings = ReadSettings(kafka, running.registry, key_format=KeyFormat.AVRO)
    return [
        (it.record.source.offset, (it.key["id"], it.event and it.event["op"]))
        for it in read_records(settings, _TOPIC, start)
    ]


def _find_end(brokers):
    """Return the offset after the last record of the topic."""
    place = TopicPartition(_TOPIC, 0)
    with closing(brokers.cluster.open_consumer()) as consumer:
        return consumer.end_offsets([place])[place]
