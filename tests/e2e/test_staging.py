"""A staging job and the retries of its joins, as Terraform made them from its plan."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]


def test_events_are_joined_released_retried_and_parked(exercised):
    """The first is approved before it is staged, the second while it waits, the others never."""
    review = exercised.review
    first, second, *others = review.events
    assert review.finals("approved", "event").keys() == {first, second}
    (alert,) = review.finals("confirmed", "alert").values()
    assert alert["events"]["event"] == first

    waited = review.waited()
    assert waited.keys() == {"alerts/a-1", *(f"events/{each}" for each in (second, *others))}
    assert {name for name, row in waited.items() if "parkedAt" in row} == {
        f"events/{each}" for each in others
    }
    assert {waited[f"events/{each}"]["attempts"] for each in others} == {3}
