"""Topics that were deleted, recreated or shortened: lost offsets, and whether the job stops."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import pytest
from pyspark.errors import StreamingQueryException

from penstock.errors import CheckpointError, LostRecordsError, TopicNotFoundError
from penstock.spark import await_end
from penstock.spark.settings.consume import LostOffsets
from penstock.spark.state.losses import OffsetRange
from penstock.spark.state.topic_watch import TopicChanges, TopicWatch
from tests.stubs.state_files import MemoryFiles

_A, _B = "aaaaaaaa", "bbbbbbbb"
_UNKNOWN = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: does not host"
_START = {("t", 0): 10, ("t", 1): 3, ("u", 0): 5}


class Offsets:
    """A checkpoint that knows of one batch."""

    def __init__(self, ends, starts):
        self.begins, self.finishes = starts, ends

    def starts(self, batch):
        return self.begins

    def ends(self, batch):
        return self.finishes


@pytest.fixture
def files():
    return MemoryFiles({f"{1:020d}.json": f'{{"t": "{_A}", "u": "{_A}"}}'})


@pytest.fixture
def look(files):
    """Look at a batch with these ends, where topics have these ids."""

    def check(ends, policy=LostOffsets.GO_ON, topics=(), starts=_START, **ids):
        there = {place: end for place, end in (starts | ends).items() if end is not None}
        asked = []

        def find(names, optional):
            asked.append((names, optional))
            return ids

        offsets = Offsets(there, starts)
        watch = TopicWatch(SimpleNamespace(find=find), offsets, files, policy, topics)
        watch.asked = asked
        return watch, watch.check(7)

    return check


def test_unchanged_topics(look, files):
    watch, changes = look({("t", 0): 12, ("v", 0): 4}, LostOffsets.STOP, t=_A, u=_A, v=_B)

    assert changes == TopicChanges(
        (OffsetRange("t", 0, 10, 12), OffsetRange("v", 0, 0, 4)), new=frozenset("v")
    )
    watch.remember()
    watch.remember()
    assert files[f"{2:020d}.json"] == f'{{"t": "{_A}", "u": "{_A}", "v": "{_B}"}}'
    assert list(files) == [f"{2:020d}.json"]


def test_the_first_batch_has_nothing_to_compare_with(look, files):
    files.clear()

    watch, changes = look({}, LostOffsets.STOP, t=_A)

    assert changes == TopicChanges()
    watch.remember()
    assert list(files) == [f"{1:020d}.json"]


def test_a_recreated_topic(look, files, caplog):
    """What it has below the offset that the query goes on at, or all of it where it is shorter."""
    with caplog.at_level(logging.WARNING):
        watch, changes = look({("t", 0): 4, ("t", 1): 9}, t=_B, u=_A)

    assert changes == TopicChanges(
        (OffsetRange("t", 1, 3, 9),),
        lost=(OffsetRange("t", 0, 0, 4), OffsetRange("t", 1, 0, 3)),
    )
    assert (
        "before batch 7 topics changed: t was deleted and recreated, and the records of the old "
        "one from t/0 10, t/1 3 on are lost; t/0 0 to 3, t/1 0 to 2 of the new one would not be "
        "read"
    ) in caplog.text
    assert look({("t", 0): 4, ("t", 1): 9}, t=_B, u=_A)[1] == changes  # until the batch is done
    watch.remember()
    assert not look({("t", 0): 14, ("t", 1): 9}, t=_B, u=_A)[1].lost


def test_a_new_topic_with_nothing_in_it_yet(look, caplog):
    with caplog.at_level(logging.WARNING):
        assert look({("t", 0): 0, ("t", 1): 0}, t=_B, u=_A)[1] == TopicChanges()

    assert caplog.text.strip().endswith("on are lost")


@pytest.mark.parametrize(
    ("ends", "ids", "problem"),
    [
        ({("t", 0): 4}, {"t": _B}, "t was deleted and recreated, .* t/0 0 to 3, t/1 0 to 2 of"),
        (
            {("t", 0): 4},
            {"t": _A},
            r"changed: t/0 ends at offset 4, and was read up to offset 10\.",
        ),
        ({("t", 1): None}, {"t": _A}, r"t/1 is missing, and was read up to offset 3\."),
        ({("t", 0): 12}, {"t": None}, r"t/0 is missing, and was read up to offset 10; t/1 is"),
        ({("v", 0): 4}, {"v": None, "t": _A}, r"changed: v/0 0 to 3 cannot be read\."),
    ],
)
def test_the_job_stops_before_it_writes_at_each_start(look, files, ends, ids, problem):
    before = dict(files)
    for _ in range(2):
        with pytest.raises(
            LostRecordsError,
            match=rf"{problem}.* Begin with a new checkpoint and --starting at .* "
            "or start with --on-lost-offsets go-on to go on$",
        ):
            look(ends, LostOffsets.STOP, u=_A, **ids)
    assert files == before


def test_deleted_topics_are_left_out(look, files, caplog):
    """Also one that was never read: what each was to give is lost, whoever knows it again."""
    with caplog.at_level(logging.WARNING):
        watch, changes = look({("t", 0): 12, ("u", 0): 6, ("v", 0): 4}, t=None, u=_A, v=None)

    assert changes == TopicChanges(
        (OffsetRange("u", 0, 5, 6),),
        replanned=True,
        lost=(OffsetRange("t", 0, 10, 12), OffsetRange("v", 0, 0, 4)),
    )
    assert "t/0 is missing, and was read up to offset 10" in caplog.text
    assert caplog.text.strip().endswith("t/0 10 to 11, v/0 0 to 3 cannot be read")
    watch.remember()
    assert list(files) == [f"{1:020d}.json"]


def _look_away(look):
    """Look at a batch without t, and return the offsets with which the next one starts."""
    watch, _ = look({("t", 0): None, ("t", 1): None}, u=_A)
    watch.remember()
    return {("u", 0): 5}


def test_a_topic_that_is_back_goes_on_where_it_was_read_up_to(look, files, caplog):
    """Spark would read it again from its first record; a new partition it reads so."""
    there = _look_away(look)
    assert json.loads(files[f"{2:020d}.json"]) == {"t": _A, "u": _A, "t/0": 10, "t/1": 3}
    look({}, starts=there, u=_A)[0].remember()
    assert list(files) == [f"{2:020d}.json"]

    caplog.clear()
    ends = {("t", 0): 12, ("t", 1): 3, ("t", 2): 2}
    with caplog.at_level(logging.WARNING):
        watch, changes = look(ends, LostOffsets.STOP, starts=there, t=_A, u=_A)
    assert changes == TopicChanges(
        (OffsetRange("t", 0, 10, 12), OffsetRange("t", 2, 0, 2)), replanned=True
    )
    assert caplog.messages == [
        "before batch 7 partitions that Spark takes for new are read on from t/0 10, t/1 3"
    ]
    watch.remember()
    assert list(files) == [f"{2:020d}.json"]  # as long as the batch may come again
    watch, changes = look({("t", 0): 13}, LostOffsets.STOP, starts=there | ends, t=_A, u=_A)
    assert changes == TopicChanges((OffsetRange("t", 0, 12, 13),))
    watch.remember()
    assert json.loads(files[f"{3:020d}.json"]) == {"t": _A, "u": _A}


def test_a_limit_of_a_batch_may_end_before_what_was_read(look):
    there = _look_away(look)
    for start, end, planned in ((None, 4, ()), (4, 8, ()), (8, 12, (10, 12)), (12, 13, (12, 13))):
        starts = there if start is None else there | {("t", 0): start}
        watch, changes = look({("t", 0): end}, LostOffsets.STOP, starts=starts, t=_A, u=_A)
        assert changes.planned == ((OffsetRange("t", 0, *planned),) if planned else ())
        assert changes.replanned == (start != 12)
        watch.remember()


def test_a_topic_that_was_created_again_while_it_was_not_read(look, files, caplog):
    there = _look_away(look)
    with pytest.raises(LostRecordsError, match=r"old one from t/0 10, t/1 3 on are lost\. Begin"):
        look({("t", 0): 12}, LostOffsets.STOP, starts=there, t=_B, u=_A)

    watch, changes = look({("t", 0): 12}, starts=there, t=_B, u=_A)
    assert changes == TopicChanges((OffsetRange("t", 0, 0, 12),), new=frozenset("t"))
    watch.remember()
    assert json.loads(files[f"{3:020d}.json"]) == {"t": _B, "u": _A}


def test_one_partition_of_a_topic_may_be_away(look):
    """As where a broker does not know it yet."""
    look({("t", 1): None}, t=_A, u=_A)[0].remember()
    there = {("t", 0): 10, ("u", 0): 5}

    _, changes = look({("t", 1): 5}, LostOffsets.STOP, starts=there, t=_A, u=_A)

    assert changes.planned == (OffsetRange("t", 1, 3, 5),)


def test_partitions_of_a_dead_topic_are_not_away(look, files):
    """The driver ends after it stored the new topic, and its batch comes again."""
    for _ in range(2):
        watch, _ = look({("t", 0): 4, ("t", 1): None}, t=_B, u=_A)
        watch.remember()
    there = {("t", 0): 4, ("u", 0): 5}

    watch, changes = look({("t", 1): 8}, LostOffsets.STOP, starts=there, t=_B, u=_A)

    assert changes == TopicChanges((OffsetRange("t", 1, 0, 8),))
    watch.remember()
    assert json.loads([*files.values()][-1]) == {"t": _B, "u": _A}


def test_a_new_topic_begins_with_the_first_record_that_it_had_at_first(look, files, caplog):
    """What Kafka removes after that is lost, also at the next start, and for all partitions."""
    ends = {("t", 0): 12, ("v", 0): 300, ("v", 1): 5}
    watch, changes = look(ends, LostOffsets.STOP, t=_A, u=_A, v=_B)
    assert changes.new == {"v"}

    changes = watch.begin(changes, [OffsetRange("v", 0, 0, 230)])

    planned = OffsetRange("t", 0, 10, 12), OffsetRange("v", 0, 230, 300), OffsetRange("v", 1, 0, 5)
    assert (changes.planned, changes.replanned) == (planned, False)
    assert caplog.messages == ["v/0 0 to 229 were deleted before the job read these topics"]
    for _ in range(2):  # before the batch is over, and after it
        assert look(ends, LostOffsets.STOP, t=_A, u=_A, v=_B)[1] == TopicChanges(planned, True)
        watch.remember()
    assert list(files) == [f"{2:020d}.json"]
    watch, _ = look({("v", 0): 301}, LostOffsets.STOP, starts=_START | ends, t=_A, u=_A, v=_B)
    watch.remember()
    assert json.loads(files[f"{3:020d}.json"]) == {"t": _A, "u": _A, "v": _B}


def test_a_new_topic_begins_nowhere_that_a_dead_one_of_its_name_ended(look, files):
    there = _look_away(look)
    watch, changes = look({("t", 0): 12}, starts=there, t=_B, u=_A)

    watch.begin(changes, [])

    assert json.loads(files[f"{3:020d}.json"]) == {"t": _B, "u": _A}
    assert look({("t", 0): 12}, starts=there, t=_B, u=_A)[1].planned == (
        OffsetRange("t", 0, 0, 12),
    )


def test_only_new_topics_are_kept_before_a_batch_is_over(look, files):
    """Other changes are said again if it is not."""
    watch, changes = look({("t", 0): 12, ("v", 0): 4}, t=_B, u=_A, v=_B)

    watch.begin(changes, [])

    assert json.loads(files[f"{2:020d}.json"]) == {"t": _A, "u": _A, "v": _B}
    watch.remember()
    assert json.loads(files[f"{3:020d}.json"]) == {"t": _B, "u": _A, "v": _B}


def test_topics_that_the_job_no_longer_reads_are_optional(look):
    assert look({}, topics=("u", "w"), t=_A, u=_A)[0].asked == [(["t", "u"], ["t"])]
    assert look({}, t=_A, u=_A)[0].asked == [(["t", "u"], [])]


class Ended:
    """A query that has ended with an error of Spark."""

    def __init__(self, text):
        self.text = text

    def awaitTermination(self):
        raise StreamingQueryException(self.text)


@pytest.mark.parametrize(
    ("text", "ids", "error", "said"),
    [
        (_UNKNOWN, {"a": None, "b": _A}, TopicNotFoundError, "^found no topic a, and Spark reads "
         "no others without it; create it, or take it out of --topics and start with "
         "--on-lost-offsets go-on$"),
        (_UNKNOWN, {"a": _A, "b": _A}, StreamingQueryException, "does not host"),
        ("no broker", {"a": None}, StreamingQueryException, "no broker"),
    ],
)  # fmt: skip
def test_a_missing_topic_is_named(text, ids, error, said):
    asked = SimpleNamespace(find=lambda topics: {topic: ids[topic] for topic in topics})

    with pytest.raises(error, match=said):
        await_end(Ended(text), asked, sorted(ids))


@pytest.mark.parametrize("text", ["", "{", "3"])
def test_a_damaged_file(look, files, text):
    files[f"{1:020d}.json"] = text

    with pytest.raises(
        CheckpointError, match=r"the file s3://c/0{19}1.json is damaged \(.*\), expected the ids"
    ):
        look({})
