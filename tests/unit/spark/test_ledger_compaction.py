"""Many files of a schema ledger become one, and a crash at any step loses nothing."""

from __future__ import annotations

from unittest.mock import Mock
from uuid import UUID

import pytest

from penstock.errors import CheckpointError, Failure, Reason
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion, VersionStatus
from penstock.spark.state import schema_ledger
from penstock.spark.state.schema_ledger import Ledger, Lookup
from tests.stubs.state_files import MemoryFiles

_MOST = 3
_ALL = "00000000000000000004-0001.all.jsonl"


class _Killed(Exception):
    pass


class _Files(MemoryFiles):
    """Files of a driver that is killed after a number of changes; `cut` is what is left of one."""

    left: float = float("inf")
    cut: int | None = None

    def write(self, name, text):
        if self.left < 1 and self.cut is not None:
            self[name] = text[: self.cut]
        self._change()
        super().write(name, text)

    def delete(self, name):
        self._change()
        super().delete(name)

    def _change(self):
        self.left -= 1
        if self.left < 0:
            raise _Killed


@pytest.fixture
def files(monkeypatch):
    found = _Files()
    monkeypatch.setattr(schema_ledger, "StateFiles", lambda *_: found)
    monkeypatch.setattr(schema_ledger, "_MOST_FILES", _MOST)
    return found


def _version(number: int) -> SchemaVersion:
    key = SchemaKey.parse(str(UUID(int=number)))
    schema = {"type": "record", "name": "R", "fields": [{"name": f"f{number}", "type": "int"}]}
    return SchemaVersion(key, "sensor", number, VersionStatus.AVAILABLE, schema, None)


def _open(next_batch: int | None) -> Ledger:
    return Ledger(Mock(), "s3://c/ledger", next_batch)


def _fill(batches: int) -> Ledger:
    """Run batches that bring a version each; the one after them has begun."""
    ledger = _open(0)
    refused = {_version(99).key: Failure(Reason.UNKNOWN_SCHEMA, "no such version")}
    for number in range(batches):
        ledger.tidy(number)
        ledger.add(Lookup(number, 1, (_version(number),), refused))
    return ledger


def _fill_five() -> Ledger:
    """Run five batches that bring a version each; their files become one when the next begins."""
    ledger = _fill(4)
    ledger.add(Lookup(4, 1, (_version(4),)))
    return ledger


def _numbers(ledger: Ledger, batch: int) -> list[int]:
    return [version.number for version in ledger.before(batch)]


def test_the_files_of_many_batches_become_one(files):
    _fill(5)
    assert len(files) == 2  # one of batches 0 to 3, one of batch 4

    for batch in range(5, 100):
        ledger = _open(batch)  # a job that is started for each batch
        ledger.tidy(batch)
        ledger.add(Lookup(batch, 1, (_version(batch),)))
        assert len(files) <= _MOST + 1
        assert _numbers(_open(batch + 1), batch + 1) == list(range(batch + 1))
        assert _numbers(ledger, batch + 1) == list(range(batch + 1))
    assert all("refused" not in text for name, text in files.items() if ".all." in name)


def test_the_lookups_of_a_batch_in_progress_stay_files_of_their_own(files):
    _fill(4)
    again = Lookup(4, 1, (_version(4),), {_version(7).key: Failure(Reason.UNKNOWN_SCHEMA, "")})
    ledger = _open(4)
    ledger.add(again)

    ledger.tidy(4)

    for found in (ledger, _open(4)):
        assert _numbers(found, 4) == [0, 1, 2, 3]
        assert found.lookups(4) == (again,)
    _open(4).add(Lookup(4, 2, (_version(5),)))
    assert _numbers(_open(5), 5) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("cut", [None, 0, 40, -1])
def test_a_driver_that_is_killed_at_any_step_loses_nothing(files, cut):
    _fill_five()
    whole = dict(files)
    for step in range(6):
        files.clear()
        files.update(whole)
        files.left, files.cut = step, cut
        with pytest.raises(_Killed):
            _open(5).tidy(5)
        files.left = float("inf")

        assert _numbers(_open(None), 5) == [0, 1, 2, 3, 4]  # another job reads it
        restarted = _open(5)
        assert _numbers(restarted, 5) == [0, 1, 2, 3, 4]
        restarted.tidy(5)
        assert list(files) == [_ALL]
        restarted.add(Lookup(5, 1, (_version(5),)))
        assert _numbers(_open(6), 6) == [0, 1, 2, 3, 4, 5]


def test_a_job_that_reads_while_files_are_replaced_begins_again(files, monkeypatch):
    ledger = _fill(4)
    names = files.names

    def replace_after_listing():
        found = names()
        monkeypatch.undo()
        monkeypatch.setattr(schema_ledger, "StateFiles", lambda *_: files)
        monkeypatch.setattr(schema_ledger, "_MOST_FILES", _MOST)
        ledger.tidy(4)
        return found

    monkeypatch.setattr(files, "names", replace_after_listing)

    assert _numbers(_open(None), 4) == [0, 1, 2, 3]


def test_files_that_disappear_at_each_listing_are_given_up(files, monkeypatch):
    monkeypatch.setattr(files, "names", lambda: [_ALL])

    with pytest.raises(CheckpointError, match=r"ledger disappeared .*, 5 times, expected a job"):
        _open(None)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-9], r"4-0001.all.jsonl is damaged \(its end is missing\)"),
        (lambda text: text.replace('"lines": 5', '"lines": 4'), "found 5 lines before"),
    ],
)
def test_a_damaged_file_of_many_batches_stops_the_query(files, damage, message):
    _fill_five().tidy(5)
    files[_ALL] = damage(files[_ALL])

    with pytest.raises(CheckpointError, match=message):
        _open(5)


def test_a_missing_file_of_many_batches_is_noticed_by_the_next_file(files):
    _fill_five().tidy(5)
    _open(5).add(Lookup(5, 1, (_version(5),)))
    del files[_ALL]

    with pytest.raises(CheckpointError, match="it is the one after 5 files, and 0 are there"):
        _open(6)


def test_a_checkpoint_that_is_older_than_the_file_of_many_batches_is_refused(files):
    _fill_five().tidy(5)

    with pytest.raises(CheckpointError, match=r"4-0001.all.jsonl is of batch 5, .* before batch 4"):
        _open(4)
    assert list(files) == [_ALL]


def test_a_look_up_that_could_not_be_written_is_not_in_memory(files):
    """The batch is taken again, and must not be split by an answer that no restart knows."""
    ledger = _fill(1)
    files.left = 0

    with pytest.raises(_Killed):
        ledger.add(Lookup(1, 1, (_version(1),)))

    assert ledger.lookups(1) == ()
    assert _numbers(ledger, 2) == [0]


def test_a_start_reads_a_hundred_files_and_one_at_most(monkeypatch):
    found = _Files()
    monkeypatch.setattr(schema_ledger, "StateFiles", lambda *_: found)

    _fill(150)

    assert 1 < len(found) <= 101
    assert _numbers(_open(150), 150) == list(range(150))
