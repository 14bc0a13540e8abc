"""A demo keeps what another one has applied."""

from __future__ import annotations

import pytest

from demo import prepare
from demo.accounts import Account, make_jobs
from demo.screen import Steps

_STAGED = ["customers", "products", "orders", "order_lines", "shipments"]


@pytest.fixture
def prepare_after(monkeypatch):
    """Prepare the producer after a demo that applied these variables; return those it applies."""

    def run(variables):
        applied = {}
        monkeypatch.setattr(prepare, "_call", lambda *_: None)
        monkeypatch.setattr(prepare, "find_instance", lambda folder: object())
        monkeypatch.setattr(Account, "variables", variables)
        monkeypatch.setattr(Account, "prepare", lambda self, zips, **given: applied.update(given))
        monkeypatch.setattr(Account, "apply", lambda self: None)
        prepare.prepare_producer(Steps())
        return applied

    return run


@pytest.mark.parametrize(("more_jobs", "staged"), [({}, []), ({prepare.STAGING_JOB: {}}, _STAGED)])
def test_the_producer_keeps_the_topics_of_a_staging_job_that_the_consumer_has(
    prepare_after, more_jobs, staged
):
    applied = prepare_after({"jobs": make_jobs() | more_jobs})

    assert list(applied["topics"]) == ["sensor", *staged]
    assert applied["clients"]["shell"]["writes"] == ["sensor", *staged]


def test_the_producer_keeps_the_consumer_and_the_topics_of_another_story(prepare_after):
    services = {"name": "services", "account_id": "222222222222", "topics": ["foo-topic"]}
    before = {"name": prepare.CONSUMER_NAME, "account_id": "222222222222", "topics": []}

    applied = prepare_after(
        {"consumers": [before, services], "topics": {"sensor": {}, "foo-topic": {}}}
    )

    assert applied["consumers"] == [before | {"topics": ["sensor"]}, services]
    assert applied["topics"] == {"sensor": {}, "foo-topic": {}}
