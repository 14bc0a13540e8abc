"""The eight modes, and the rules that are Glue's own, each with its source.

Sources: [doc] AWS Glue developer guide, "Schema Registry", compatibility modes; [Avro] what a
reader of Avro 1.11, which Glue runs, can do.
"""

from __future__ import annotations

from typing import Any

import pytest

from penstock.schemas import Compatibility, check_mode


def _schema(**fields: Any) -> dict[str, Any]:
    listed = [
        {"name": name, "type": type_} | ({"default": None} if isinstance(type_, list) else {})
        for name, type_ in fields.items()
    ]
    return {"type": "record", "name": "R", "fields": listed}


_OPTIONAL = ["null", "long"]
_PLAIN = _schema(id="string")
_MORE = _schema(id="string", x="long")
_MORE_OPTIONAL = _schema(id="string", x=_OPTIONAL)
_CHANGED = _schema(id="long")
_NO_DEFAULT = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "id", "type": "string"}, {"name": "x", "type": _OPTIONAL}],
}


@pytest.mark.parametrize(
    ("rule", "source", "old", "new", "accepted"),
    [
        ("delete a field", "[doc] BACKWARD: delete fields", _MORE, _PLAIN, "BACKWARD"),
        ("add an optional field", "[doc] BACKWARD, FORWARD, FULL: add optional fields",
         _PLAIN, _MORE_OPTIONAL, "BACKWARD FORWARD FULL"),
        ("add a required field", "[doc] FORWARD: add fields", _PLAIN, _MORE, "FORWARD"),
        ("delete an optional field", "[doc] BACKWARD, FORWARD, FULL: delete optional fields",
         _MORE_OPTIONAL, _PLAIN, "BACKWARD FORWARD FULL"),
        ("optional means a union with null, and a default of null besides",
         "[doc] says the first half; [Avro] no reader fills a field without a default",
         _PLAIN, _NO_DEFAULT, "FORWARD"),
        ("contradict a type", "[Avro] a string is no long", _PLAIN, _CHANGED, ""),
        ("widen a type", "[Avro] a reader promotes int to long", _schema(id="int"),
         _schema(id="long"), "BACKWARD"),
        ("change nothing", "[doc] every mode", _PLAIN, _PLAIN, "BACKWARD FORWARD FULL"),
    ],
)  # fmt: skip
def test_each_mode_accepts_its_changes(
    rule: str, source: str, old: Any, new: Any, accepted: str
) -> None:
    found = {
        mode.value for mode in Compatibility if not check_mode(new, [old], mode)
    } - {"NONE", "DISABLED"}  # fmt: skip
    modes = accepted.split()
    assert found == {*modes, *(f"{mode}_ALL" for mode in modes)}, (rule, source)


def test_none_accepts_anything() -> None:
    """[doc] NONE: no compatibility check."""
    assert check_mode(_CHANGED, [_PLAIN], Compatibility.NONE) == ()


def test_disabled_takes_the_first_version_and_no_other() -> None:
    """[doc] DISABLED: no new versions can be added; CreateSchema brings the first."""
    assert check_mode(_PLAIN, [], Compatibility.DISABLED) == ()
    (found,) = check_mode(_PLAIN, [_PLAIN], Compatibility.DISABLED)
    assert str(found) == (
        "the schema: compatibility is DISABLED, so the schema accepts no new version"
    )
    assert found.kind == "VERSIONS_DISABLED"


@pytest.mark.parametrize("mode", Compatibility)
def test_a_first_version_is_always_accepted(mode: Compatibility) -> None:
    """[doc] there is nothing that it could be compared with."""
    assert check_mode(_PLAIN, [], mode) == ()


@pytest.mark.parametrize(
    ("direction", "earlier", "new"),
    [
        ("BACKWARD", [_schema(id="long"), _schema(id="int")], _schema(id="int")),
        ("FORWARD", [_schema(id="int"), _schema(id="long")], _schema(id="long")),
        ("FULL", [_schema(id="int"), _schema(id="long")], _schema(id="long")),
    ],
)
def test_only_the_all_modes_compare_with_every_version(
    direction: str, earlier: list[Any], new: Any
) -> None:
    """[doc] _ALL: compared with all versions since the checkpoint, not with the last alone."""
    assert check_mode(new, earlier, Compatibility(direction)) == ()
    assert check_mode(new, earlier, Compatibility(f"{direction}_ALL")) != ()


def test_a_reason_that_several_versions_share_is_reported_once() -> None:
    found = check_mode(_CHANGED, [_PLAIN, _PLAIN], Compatibility.BACKWARD_ALL)
    assert [str(each) for each in found] == ["id: the reader expects long, the writer wrote string"]
