"""A symptom follows from an earlier break; without one it is a first cause itself."""

from __future__ import annotations

from operator import itemgetter, methodcaller

import pytest

from penstock.extensions.doctor.findings import Break, Hop, NotSeenError, Seen, Side, State
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.operation import examine
from penstock.extensions.doctor.text import describe

_MEND = "mend it"


class _World:
    """The part of a world that an examination asks for."""

    def __init__(self):
        self.deployment = self
        self.contract = {"exposure": "privatelink"}

    @staticmethod
    def account_of(side):
        return {"producer": "1", "consumer": "2"}[side]

    @staticmethod
    def apply(side):
        return f"apply the {side}"


def _own(code, about="x"):
    return Break(code, about, "seen", "expected", _MEND)


def _symptom(code, about="x"):
    return Break(code, about, "seen", "expected", _MEND, is_symptom=True)


def _hop(name, *found, after=(), side=Side.CONSUMER):
    return Hop(name, side, lambda world: iter(found), after)


def _examine(*hops):
    return examine(_World(), hops)


def test_a_symptom_follows_from_the_break_of_a_hop_that_it_depends_on_through_others():
    report = _examine(
        _hop("first", _own("a")),
        _hop("second", Seen("fine"), after=("first",)),
        _hop("third", _symptom("b"), after=("second",)),
    )
    assert [each.code for each in report.causes] == ["a"]
    (follows,) = [each for each in report.findings if each.state is State.FOLLOWS]
    assert (follows.code, follows.follows_from) == ("b", "a (x)")


def test_a_hop_of_another_exposure_is_left_out():
    link, peer = (
        Hop(each, Side.CONSUMER, lambda _: iter([Seen("fine")]), (), each)
        for each in ("privatelink", "peering")
    )
    assert [each.hop for each in _examine(link, peer).findings] == ["privatelink"]


def test_a_symptom_without_an_earlier_break_is_a_first_cause():
    report = _examine(_hop("other", _own("a")), _hop("last", _symptom("b")))
    assert [each.code for each in report.causes] == ["a", "b"]


def test_a_break_of_its_own_is_a_first_cause_after_another_break():
    report = _examine(_hop("first", _own("a")), _hop("last", _own("b"), after=("first",)))
    assert [each.code for each in report.causes] == ["a", "b"]


def test_the_break_of_the_same_broker_explains_a_symptom():
    report = _examine(
        _hop("first", _own("a", "b-1"), _own("a", "b-2")),
        _hop("last", _symptom("b", "b-2"), after=("first",)),
    )
    assert report.findings[-1].follows_from == "a (b-2)"


def test_a_hop_that_cannot_be_looked_at_is_named_with_why_and_stops_no_other():
    def fail(world):
        raise NotSeenError("no profile")

    report = _examine(
        Hop("hidden", Side.PRODUCER, fail),
        Hop("also hidden", Side.PRODUCER, fail),
        _hop("last", Seen("fine")),
    )
    assert [each.hop for each in report.not_seen] == ["hidden", "also hidden"]
    lines = list(describe(report))
    assert "not looked at: hidden, also hidden: no profile" in lines
    assert lines[-1] == "first causes: none, hops not looked at: 2"


def test_what_was_found_before_something_cannot_be_looked_at_stays():
    def look(world):
        yield _own("bucket-missing")
        raise NotSeenError("s3 does not answer")

    report = _examine(Hop("stores", Side.CONSUMER, look), _hop("last", _symptom("b")))

    assert [each.code for each in report.causes] == ["bucket-missing", "b"]
    assert [each.seen for each in report.not_seen] == ["s3 does not answer"]


@pytest.mark.parametrize(
    ("answer", "read", "named"),
    [
        ({}, itemgetter("Status"), "KeyError('Status')"),
        ([], itemgetter(0), "IndexError('list index out of range')"),
        (None, itemgetter("Status"), "TypeError(\"'NoneType' object is not subscriptable\")"),
        ("*", methodcaller("get", ""), "AttributeError(\"'str' object has no attribute 'get'\")"),
        ("", int, "ValueError(\"invalid literal for int() with base 10: ''\")"),
    ],
)
def test_an_answer_that_is_not_as_expected_is_named_and_stops_no_other_hop(answer, read, named):
    def look(world):
        yield _own("bucket-missing")
        yield Seen(read(answer))

    report = _examine(Hop("stores", Side.CONSUMER, look), _hop("last", Seen("fine")))

    assert [(each.hop, each.state) for each in report.findings] == [
        *(("stores", "broken"), ("stores", "not seen"), ("last", "ok"))
    ]
    assert [each.seen for each in report.not_seen] == [
        f"an answer of AWS or an output of a root is not as expected: {named}"
    ]


def test_a_cause_is_printed_with_its_account_what_was_expected_the_command_and_its_page():
    report = _examine(_hop("zone", _own("zone-missing"), Seen("the rest"), side=Side.PRODUCER))
    lines = list(describe(report))
    assert not any("the rest" in line for line in lines)
    assert lines[-6:] == [
        "first cause: zone-missing (x), producer 1, zone",
        "  seen      seen",
        "  expected  expected",
        "  mend      mend it",
        "  more      penstock explain zone-missing",
        "first causes: 1, hops not looked at: 0",
    ]


def test_a_break_without_a_command_is_mended_by_an_apply_of_its_account():
    report = _examine(_hop("zone", Break("zone-missing", "x", "none", "one"), side=Side.PRODUCER))
    assert [each.mend for each in report.causes] == ["apply the producer"]


def test_hops_have_names_of_their_own_and_depend_on_earlier_ones():
    names = [hop.name for hop in HOPS]
    assert len({*names}) == len(names)
    known = set()
    for hop in HOPS:
        assert {*hop.after} <= known, hop.name
        known.add(hop.name)
