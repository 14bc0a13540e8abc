"""The settings of a consumer, and a consumer made of them."""

from __future__ import annotations

import pytest

from penstock.consuming import Consumed, ConsumerSettings, build_consumer
from penstock.errors import SettingsError

_ENVIRON = {
    "PENSTOCK_REGISTRY": "memory://",
    "PENSTOCK_READINGS_TABLE": "r",
    "PENSTOCK_ERRORS_TABLE": "e",
    "PENSTOCK_PARKED_BUCKET": "b",
}


def _settings(registry: str) -> ConsumerSettings:
    return ConsumerSettings.from_environ(_ENVIRON | {"PENSTOCK_REGISTRY": registry})


def test_settings_name_what_is_missing_and_hide_the_external_id() -> None:
    with pytest.raises(SettingsError) as caught:
        ConsumerSettings.from_environ({"PENSTOCK_READINGS_TABLE": "r"})
    settings = _settings("glue://plant?external_id=hidden")

    assert len(caught.value.problems) == 3
    assert "PENSTOCK_PARKED_BUCKET (--parked-bucket) is missing" in str(caught.value)
    assert "PENSTOCK_ERRORS_TABLE (--errors-table) is missing" in str(caught.value)
    assert "hidden" not in repr(settings)


@pytest.mark.parametrize(("text", "expected"), [("true", True), ("false", False), (None, False)])
def test_partial_answers_are_true_or_false(text: str | None, expected: bool) -> None:
    environ = {"PENSTOCK_PARTIAL_ANSWERS": text} if text else {}

    assert ConsumerSettings.from_environ(_ENVIRON | environ).partial_answers is expected


def test_any_other_word_is_refused() -> None:
    with pytest.raises(
        SettingsError,
        match=r"^PENSTOCK_PARTIAL_ANSWERS is 'yes', expected true if the event source mapping",
    ):
        ConsumerSettings.from_environ(_ENVIRON | {"PENSTOCK_PARTIAL_ANSWERS": "yes"})


def test_a_consumer_is_built_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    settings = _settings("memory://")

    assert build_consumer(settings, "job").consume([]) == Consumed(0, {}, 0)
