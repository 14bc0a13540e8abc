"""Two hundred events of twenty devices, whose fields change, through both accounts."""

from __future__ import annotations

import json
from itertools import groupby

import pytest

from localcloud.testing import wait_until
from tests.e2e.accounts import PRODUCER
from tests.e2e.model import expect_rows, find_differences, make_events

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_SENT_ALONE = 12  # of the list, so that it begins with versions that others have registered


@pytest.mark.usefixtures("stories")
def test_two_hundred_events_are_two_hundred_rows(accounts, client, seeded):
    before = accounts.rows("analytics")
    listed, single = make_events(seeded)
    events = [*single, *listed]
    answers = [accounts.produce(event) for event in single[:_SENT_ALONE]]
    of_the_list = accounts.produce(listed)
    answers += [accounts.produce(event) for event in single[_SENT_ALONE:]]
    expected = expect_rows(events, [*answers, *of_the_list])

    _check_records([*answers, *of_the_list], of_the_list)
    _check_versions(client("glue", PRODUCER), events, [*answers, *of_the_list])
    wait_until(
        "all rows are written", lambda: expected.keys() <= accounts.rows("analytics").keys(), 60
    )
    found = accounts.rows("analytics")
    new = [row for source, row in found.items() if source not in before]
    assert find_differences(expected, new) == []
    assert {source: found[source] for source in before} == before


def _check_records(answers, of_the_list):
    """Each event has a record of its own, and nothing else was written meanwhile."""
    places = sorted((each["partition"], each["offset"]) for each in answers)
    for _, group in groupby(places, key=lambda place: place[0]):
        offsets = [offset for _, offset in group]
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets)))
    listed = [each["offset"] for each in of_the_list]
    assert len({each["partition"] for each in of_the_list}) == 1
    assert listed == sorted(listed)


def _check_versions(glue, events, answers):
    """The version of each event is in the registry, and has the fields of the event, no others."""
    fields = {}
    for answer in answers:
        schema = answer["schema"]
        if schema["id"] not in fields:
            shown = glue.get_schema_version(SchemaVersionId=schema["id"])
            assert shown["VersionNumber"] == schema["version"]
            defined = json.loads(shown["SchemaDefinition"])["fields"]
            fields[schema["id"]] = {each["name"] for each in defined}
    for event, answer in zip(events, answers, strict=True):
        assert fields[answer["schema"]["id"]] == event.keys()
