"""kafka-python's consumer in a group that the test rebalances by hand."""

from __future__ import annotations

from types import SimpleNamespace

from kafka.errors import CommitFailedError

from tests.stubs.poller import P0, P1


class Group:
    """kafka-python's consumer as far as a poller uses it, with the group in the test's hands."""

    def __init__(self):
        self.options = {}
        self.log = {P0: [], P1: []}
        self.offsets = {P0: 0, P1: 0}
        self.mine, self.at, self.stopped = set(), {}, set()
        self.refuse_commits = 0
        self.next_change = None
        self._fetcher = SimpleNamespace(_next_partition_records=None)

    def __call__(self, **options):
        self.options = options
        return self

    def subscribe(self, topics, listener):
        self.listener = listener

    def assign(self, *places):
        """A rebalance: all is taken, then these are given, as the eager protocol does."""
        self.listener.on_partitions_revoked(set(self.mine))
        self.mine, self.stopped = set(places), set()
        self.at = {p: self.offsets[p] if self.offsets[p] is not None else 0 for p in places}
        self.listener.on_partitions_assigned(set(places))

    def assignment(self):
        return set(self.mine)

    def poll(self, timeout_ms, max_records=500):
        if self.next_change is not None:
            change, self.next_change = self.next_change, None
            change()
        got = {}
        for place in sorted(self.mine - self.stopped):
            found = [r for r in self.log[place] if r.offset >= self.at[place]][:max_records]
            if found:
                got[place] = found
                self.at[place] = found[-1].offset + 1
                max_records -= len(found)
        return got

    def pause(self, *places):
        self.stopped |= set(places)

    def resume(self, *places):
        self.stopped -= set(places)

    def paused(self):
        return set(self.stopped)

    def seek(self, place, offset):
        self.at[place] = offset

    def committed(self, place, timeout_ms):
        return self.offsets[place]

    def commit(self, offsets, timeout_ms):
        if self.refuse_commits:
            self.refuse_commits -= 1
            raise CommitFailedError
        self.offsets |= {place: kept.offset for place, kept in offsets.items()}

    def beginning_offsets(self, places, timeout_ms):
        return {place: self.log[place][0].offset for place in places}

    def end_offsets(self, places, timeout_ms):
        return {place: self.log[place][-1].offset + 1 for place in places}

    def offsets_for_times(self, times, timeout_ms):
        ((place, when),) = times.items()
        found = [r for r in self.log[place] if r.timestamp >= when]
        return {place: SimpleNamespace(offset=found[0].offset) if found else None}

    def close(self, **_):
        self.mine = set()
