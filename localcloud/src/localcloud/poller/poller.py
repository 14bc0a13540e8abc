"""A member of the mapping's consumer group: collects batches and commits offsets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from localcloud.poller.batch import MAX_EVENT_BYTES, Place, place_of
from localcloud.poller.settings import MappingSettings

_POLL_MS = 200
_METADATA_AGE_MS = 1000  # new topics and partitions are seen within this time
_HEARTBEAT_MS = 500
_SESSION_MS = 10_000
_BOOTSTRAP_MS = 5_000
_ANSWER_MS = 10_000  # kafka-python's default is to wait forever
_MEASURE_SECONDS = 1.0
_JOIN_SECONDS = 10.0  # a group accepts a member within a second
_RAW_BYTES = MAX_EVENT_BYTES * 3 // 4  # base64 adds a third


class Poller:
    """Reads in the group. The batch that `take` returned is in work until `finish`.

    Kafka may assign partitions to other members at any time, which is noticed only inside `take`
    and `keep_alive`. `keep_alive` returns lost partitions, which are never committed. A partition
    that comes back at once continues after the batch in work. `options` are kafka-python's.
    """

    def __init__(self, settings: MappingSettings, options: Mapping[str, Any]) -> None:
        self._settings = settings
        self._buffer: list[Any] = []
        self._ends: dict[Place, int] = {}  # of the batch in work
        self._placed: set[Place] = set()  # the partitions whose position is taken
        self._changes = _Changes()
        self._lag, self._measure_at = 0, 0.0
        self._consumer = KafkaConsumer(
            **options,
            isolation_level="read_uncommitted",  # assumption `mapping-isolation`
            group_id=settings.group_id,
            enable_auto_commit=False,
            auto_offset_reset="latest" if settings.starting_position == "LATEST" else "earliest",
            allow_auto_create_topics=False,
            metadata_max_age_ms=_METADATA_AGE_MS,
            heartbeat_interval_ms=_HEARTBEAT_MS,
            session_timeout_ms=_SESSION_MS,
            bootstrap_timeout_ms=_BOOTSTRAP_MS,
        )
        self._consumer.subscribe(settings.topics, listener=self._changes)

    @property
    def placed(self) -> bool:
        """Return whether it has partitions, and has taken its position in each of them."""
        ours = self._consumer.assignment()
        return bool(ours) and ours <= self._placed

    @property
    def is_kept_out(self) -> bool:
        """Return whether joining the group takes so long that kafka-python is stuck."""
        return self._changes.pending_seconds > _JOIN_SECONDS

    def measure_lag(self) -> int:
        """Return the records of all partitions that are not committed, asked once a second."""
        if time.monotonic() >= self._measure_at:
            self._measure_at = time.monotonic() + _MEASURE_SECONDS
            places = list(self._consumer.assignment())
            ends = self._consumer.end_offsets(places, _ANSWER_MS) if places else {}
            done = {place: self._consumer.committed(place, timeout_ms=_ANSWER_MS) for place in ends}
            self._lag = sum(int(end) - int(done[place] or 0) for place, end in ends.items())
        return self._lag

    def take(self, seconds: float, stop: threading.Event) -> Sequence[Any]:
        """Collect a batch until it is full or the window is over; empty if no record arrives.

        It returns early with what it has when `stop` is set.
        """
        began, first_at = time.monotonic(), None
        while not (self._is_full() or stop.is_set()):
            now = time.monotonic()
            if self._buffer and first_at is None:
                first_at = now
            end = began + seconds if first_at is None else first_at + self._settings.window_seconds
            if now >= end:
                break
            self._collect(min(_POLL_MS, (end - now) * 1000))
        batch, self._buffer = self._buffer, []
        self._ends = {place_of(record): record.offset + 1 for record in batch}
        return batch

    def keep_alive(self) -> set[Place]:
        """Stay a member while the function runs; return the partitions in work that were lost."""
        self._consumer.pause(*self._consumer.assignment())
        got = self._consumer.poll(timeout_ms=_POLL_MS)
        lost = self._follow_changes(got)
        for place, records in got.items():  # of a partition that was just assigned: read it later
            self._consumer.seek(place, self._ends.get(place, records[0].offset))
        return lost

    def commit(self, offsets: Mapping[Place, int]) -> set[Place]:
        """Commit offsets; return the partitions that were lost meanwhile."""
        lost: set[Place] = set()
        deadline = time.monotonic() + _SESSION_MS / 1000
        while self._changes.pending and time.monotonic() < deadline:
            lost |= self.keep_alive()
        ours = {p: offset for p, offset in offsets.items() if p in self._consumer.assignment()}
        if ours:
            try:
                self._write_offsets(ours)
            except KafkaError:  # no longer a member: another member, or we again, read the records
                lost |= self.keep_alive()
        return lost

    def finish(self) -> None:
        """End the batch and continue reading."""
        self._ends = {}
        self._consumer.resume(*self._consumer.paused())

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close(autocommit=False, timeout_ms=2000)

    def _is_full(self) -> bool:
        if len(self._buffer) >= self._settings.batch_size:
            return True
        size = sum(len(record.key or b"") + len(record.value or b"") for record in self._buffer)
        return size >= _RAW_BYTES

    def _collect(self, timeout_ms: float) -> None:
        wanted = self._settings.batch_size - len(self._buffer)
        self._let_parked_records_in()
        got = self._consumer.poll(timeout_ms=int(timeout_ms), max_records=wanted)
        self._follow_changes(got)
        for records in got.values():
            self._buffer += records

    def _let_parked_records_in(self) -> None:
        """Empty the slot that a partition read to its end occupies in kafka-python 3.0.12.

        It parks fetched records of a paused partition, does not fetch that partition meanwhile, and
        takes the parked records back only if the slot is None: the partition would stand still.
        """
        fetcher = self._consumer._fetcher
        if not fetcher._next_partition_records:
            fetcher._next_partition_records = None

    def _follow_changes(self, got: dict[Place, list[Any]]) -> set[Place]:
        """Follow a rebalance: drop foreign records, seek new partitions, return the lost ones."""
        revoked, assigned = self._changes.collect()
        if not revoked and not assigned:
            return set()
        self._buffer = [record for record in self._buffer if place_of(record) not in revoked]
        ours = self._consumer.assignment()
        for place in assigned & ours:
            # Records may have arrived before the rebalance was noticed, and were dropped above.
            start = self._next_offset(place)
            if place not in got or got[place][0].offset != start:
                got.pop(place, None)
                self._consumer.seek(place, start)
        self._placed = (self._placed - revoked) | (assigned & ours)
        lost: set[Place] = (revoked - ours) & self._ends.keys()
        for place in lost:
            del self._ends[place]
        return lost

    def _next_offset(self, place: Place) -> int:
        """Return where to continue: after the batch in work, else the group's offset or start."""
        if place in self._ends:
            return self._ends[place]
        done = self._consumer.committed(place, timeout_ms=_ANSWER_MS)
        if done is None:  # the group has never read it; commit the start
            done = self._find_start(place)
            self._write_offsets({place: done})
        return int(done)

    def _write_offsets(self, offsets: Mapping[Place, int]) -> None:
        kept = {place: OffsetAndMetadata(offset, "", -1) for place, offset in offsets.items()}
        self._consumer.commit(kept, timeout_ms=_ANSWER_MS)

    def _find_start(self, place: Place) -> int:
        if self._settings.starting_position == "TRIM_HORIZON":
            return int(self._consumer.beginning_offsets([place], _ANSWER_MS)[place])
        if self._settings.starting_position == "AT_TIMESTAMP":
            times = {place: self._settings.starting_time_ms}
            found = self._consumer.offsets_for_times(times, _ANSWER_MS)[place]
            if found is not None:
                return int(found.offset)
        return int(self._consumer.end_offsets([place], _ANSWER_MS)[place])


class _Changes(ConsumerRebalanceListener):  # type: ignore[misc]  # kafka-python has no types
    """The changes of rebalances since the last call; told on the client's thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revoked: set[Place] = set()
        self._assigned: set[Place] = set()
        # Since when partitions are pending: at the start nothing is assigned yet.
        self._pending_since: float | None = time.monotonic()

    @property
    def pending(self) -> bool:
        """Return whether a rebalance is under way."""
        return self._pending_since is not None

    @property
    def pending_seconds(self) -> float:
        """The duration of the current rebalance so far."""
        since = self._pending_since
        return 0.0 if since is None else time.monotonic() - since

    def on_partitions_revoked(self, revoked: Iterable[Place]) -> None:
        with self._lock:
            self._revoked |= set(revoked)
            self._assigned -= set(revoked)
            self._pending_since = self._pending_since or time.monotonic()

    def on_partitions_assigned(self, assigned: Iterable[Place]) -> None:
        with self._lock:
            self._assigned |= set(assigned)
            self._pending_since = None

    def collect(self) -> tuple[set[Place], set[Place]]:
        """Return the revoked and assigned partitions, once the rebalance is over."""
        with self._lock:
            if self.pending:
                return set(), set()
            changes = self._revoked, self._assigned
            self._revoked, self._assigned = set(), set()
            return changes
