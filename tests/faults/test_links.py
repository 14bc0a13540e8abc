"""Links to brokers break under a producer function, a consumer function and a Spark job at once."""

from __future__ import annotations

import pytest

from campaign.run import run_schedule
from campaign.schedule import make_schedule

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.nightly]

_MINUTES = 2
_LINKS = ("links-slow", "links-cut", "links-split")


def test_links_that_break_lose_no_record(tmp_path, seeded, fault):
    """Clients of a broker meet each kind of it, and followers lose their leader."""
    breaks = fault("links")
    outcome = run_schedule(make_schedule(seeded.randrange(2**32), _MINUTES, only=_LINKS), tmp_path)

    outcome.tell(breaks)
    assert outcome.problems == ()
    breaks.count(len(outcome.fired), fired=sum(each.times > 0 for each in outcome.fired))
