"""The names of an event are told apart."""

from __future__ import annotations

import pytest

from penstock.errors import OperationError
from penstock.extensions.trace.names import EventName
from penstock.records import Source

_PLACE = Source("my-topic.v1", 3, 41)


@pytest.mark.parametrize(
    ("text", "source", "record_id"),
    [
        ("my-topic.v1/3/41", _PLACE, ""),
        ("my-topic.v1/3/41/1795234015788", _PLACE, "my-topic.v1/3/41/1795234015788"),
        ("my-topic.v1/3/41/-1/join", _PLACE, "my-topic.v1/3/41/-1"),
        ("1795234015788-my-topic.v1-3-41", _PLACE, ""),
        ("1795234015788.0005-my-topic.v1-3-41", _PLACE, ""),
        ("-000000000001-my-topic.v1-3-41", _PLACE, ""),
        ("9223372036854775-my-topic.v1-3-41", _PLACE, ""),
        ("producer/2026/11/21/ab12-0.json", None, ""),
    ],
)
def test_a_name_has_one_meaning(text: str, source: Source | None, record_id: str) -> None:
    assert EventName.read(text) == EventName(text, source, record_id)


@pytest.mark.parametrize(
    "text", ["", "sensor", "sensor-0-1", "sensor/0", "sensor/0/x", "sensor/0/1/", "/0/1"]
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(OperationError, match=f"found {text!r}, expected topic/partition/offset"):
        EventName.read(text)
