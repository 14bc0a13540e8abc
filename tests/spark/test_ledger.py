"""What a query learnt is there again after any crash, as far as anything depends on it."""

from __future__ import annotations

import logging

import pytest

from penstock.errors import CheckpointError, CheckpointInUseError, Failure, Reason
from penstock.framing import SchemaKey
from penstock.spark.state.schema_ledger import Ledger, Lookup
from tests.spark.records import make_record, make_version

_V1 = make_version(1, make_record(("a", "int")))
_V2 = make_version(2, make_record(("a", "int"), ("b", ["null", "long"])))
_V3 = make_version(3, make_record(("a", "long")))
_GONE = {
    SchemaKey.parse("d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e"): Failure(
        Reason.UNKNOWN_SCHEMA, "no such version é"
    )
}


@pytest.fixture(params=["", "file:"])
def open_ledger(spark, tmp_path, request):
    return lambda *given: Ledger(spark, f"{request.param}{tmp_path}/schemas", *given)


def test_lookups_are_kept_in_their_order(open_ledger):
    ledger = open_ledger()
    assert ledger.before(10) == ledger.lookups(0) == ()
    lookups = [Lookup(0, 1, (_V2,)), Lookup(3, 1, (_V1,)), Lookup(3, 2, (_V3,), _GONE)]
    for lookup in lookups:
        ledger.add(lookup)

    for found in (ledger, open_ledger()):
        assert found.before(0) == ()
        assert found.before(3) == (_V2,)
        assert found.before(4) == (_V2, _V1, _V3)
        assert found.lookups(3) == tuple(lookups[1:])


def test_a_batch_that_is_over_keeps_only_versions(open_ledger):
    ledger = open_ledger()
    for lookup in (Lookup(1, 1, (), _GONE), Lookup(1, 2, (_V1,), _GONE), Lookup(2, 1, (), _GONE)):
        ledger.add(lookup)

    ledger.tidy(2)

    for found in (ledger, open_ledger()):
        assert [each.round for each in found.lookups(1)] == [2]
        assert len(found.lookups(2)) == 1


@pytest.mark.parametrize("cut", [0, 1, 40, -1, -12, -13])
def test_a_file_that_was_cut_off_is_as_if_it_were_not(open_ledger, tmp_path, caplog, cut):
    open_ledger().add(Lookup(0, 1, (_V1,)))
    open_ledger().add(Lookup(1, 1, (_V2,), _GONE))
    (path,) = tmp_path.glob("schemas/*1-0001.jsonl")
    whole = path.read_bytes()
    for check in tmp_path.glob("schemas/.*.crc"):
        check.unlink()
    path.write_bytes(whole[:cut])

    with caplog.at_level(logging.WARNING):
        seen_by_another = open_ledger()
        assert path.read_bytes() == whole[:cut]
        ledger = open_ledger(1)

    assert seen_by_another.before(9) == ledger.before(9) == (_V1,)
    assert "-0001.jsonl was cut off when it was written" in caplog.text
    ledger.add(Lookup(1, 1, (_V3,)))
    assert open_ledger().before(9) == (_V1, _V3)


def test_damage_stops_the_query_with_a_sentence(open_ledger, tmp_path):
    open_ledger().add(Lookup(0, 1, (_V1,)))
    (path,) = tmp_path.glob("schemas/*.jsonl")
    whole = path.read_bytes()
    for check in tmp_path.glob("schemas/.*.crc"):
        check.unlink()
    for damaged in (
        whole.replace(b'"lines": 1', b'"lines": 2'),
        whole.replace(b'"before": 0', b'"before": 1'),
        whole.replace(b'"version"', b'"revsion"'),
        whole.replace(b"record", b"rekord"),
        whole.replace(b"{", b"[", 1),
    ):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"0-0001.jsonl is damaged \(.*restore it"):
            open_ledger()
    path.rename(path.with_name("notes.txt"))
    with pytest.raises(CheckpointError, match=r"schemas/notes\.txt, expected only files"):
        open_ledger()


@pytest.mark.parametrize("cut", [0, 40, -13])
def test_a_file_of_a_batch_that_is_over_was_whole(open_ledger, tmp_path, cut):
    open_ledger().add(Lookup(1, 1, (_V1,)))
    (path,) = tmp_path.glob("schemas/*.jsonl")
    path.with_name(f".{path.name}.crc").unlink()
    path.write_bytes(path.read_bytes()[:cut])

    with pytest.raises(
        CheckpointError, match=r"01-0001.jsonl is damaged \(its end is missing\), .*; restore it"
    ):
        open_ledger(2)
    assert open_ledger(1).before(9) == ()


def test_a_missing_file_is_missed_by_the_one_after_it(open_ledger, tmp_path):
    for lookup in (Lookup(0, 1, (_V1,)), Lookup(1, 1, (), _GONE), Lookup(2, 1, (_V2,))):
        open_ledger().add(lookup)
    (tmp_path / "schemas" / f"{1:020d}-0001.jsonl").unlink()  # as tidying does
    assert open_ledger(2).before(9) == (_V1, _V2)
    (tmp_path / "schemas" / f"{0:020d}-0001.jsonl").unlink()

    with pytest.raises(
        CheckpointError,
        match=r"2-0001.jsonl is damaged \(it is the one after 1 files, and 0 are there\), .*; rest",
    ):
        open_ledger(2)


def test_a_ledger_that_is_newer_than_the_checkpoint(open_ledger):
    open_ledger().add(Lookup(3, 1, (_V1,)))

    assert open_ledger(3).before(4) == (_V1,)
    with pytest.raises(
        CheckpointError,
        match=r"3-0001.jsonl is of batch 3, and the checkpoint's files in offsets end before batch "
        "2, expected those of all batches; restore it",
    ):
        open_ledger(2)


def test_another_job_that_writes_the_same_lookup(open_ledger):
    first, second = open_ledger(), open_ledger()
    first.add(Lookup(0, 1, (_V1,)))

    with pytest.raises(CheckpointInUseError, match=r"0-0001.jsonl is there already, expected no"):
        second.add(Lookup(0, 1, (_V2,)))
