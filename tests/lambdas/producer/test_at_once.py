"""Two environments of one function, as AWS runs them, register at the same instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from localcloud.cloud import Cloud
from localcloud.faults import Fault, Faults, Kind
from systems.trials import Trials
from tests.lambdas.producer.conftest import Producers

pytestmark = pytest.mark.kafka

_TRIALS = (8, 100)


@pytest.fixture(autouse=True)
def meeting(producers: Producers, cloud: Cloud) -> Iterator[Fault]:
    """Have two environments, of which both have found no version before either registers it."""
    producers.invoke_at_once({}, {})
    faults = cloud.state(Faults)
    yield faults.add(kind=Kind.MEET, service="glue", operation="RegisterSchemaVersion", seconds=1)
    faults.clear()


def test_the_same_new_version_is_one_version(
    producers: Producers, trials: Callable[[int, int], int], fault: Callable[[str], Trials]
) -> None:
    count, both, ids = trials(*_TRIALS), 0, {}
    races = fault("two-register")
    for trial in range(count):
        answers = producers.invoke_at_once({f"f{trial}": 1}, {f"f{trial}": 2})

        assert [error for _, error in answers] == [None, None], answers
        one, other = (answer["schema"] for answer, _ in answers)
        assert (one["version"], one["id"]) == (other["version"], other["id"])
        ids[f"f{trial}"] = one["id"]
        both += one["created"] and other["created"]

    registry = producers.registry()
    assert [each.number for each in registry.versions("sensor")] == list(range(1, count + 2))
    records = producers.records(registry)[2:]
    assert len(records) == 2 * count
    assert both > count / 2, "they hardly ever met"
    races.count_seen(both)
    races.check(
        [
            ((name, event[name]), id_)
            for id_, event in records
            for name in ids.keys() & event.keys()
        ],
        {(name, value): ids[name] for name in ids for value in (1, 2)},
    )
    assert producers.rejected() == []


# By the registry's own rule, and where it has none by what all producers and readers agree on.
@pytest.mark.parametrize("producers", ["BACKWARD", "NONE"], indirect=True)
def test_one_of_two_contradicting_versions_wins(
    producers: Producers,
    meeting: Fault,
    trials: Callable[[int, int], int],
    fault: Callable[[str], Trials],
) -> None:
    count, winners, met = trials(*_TRIALS), [], 0
    races = fault("two-contradict")
    for trial in range(count):
        name, before = f"f{trial}", meeting.met
        answers = producers.invoke_at_once({name: 1}, {name: "warm"})

        met += meeting.met > before
        won = [
            (answer, value)
            for (answer, error), value in zip(answers, (1, "warm"), strict=True)
            if error is None
        ]
        assert len(won) == 1, answers
        winners.append((won[0][0]["schema"]["id"], name, won[0][1]))
        (lost,) = [answer for answer, error in answers if error is not None]
        assert lost["errorType"] == "RejectedEventError"
        assert lost["errorMessage"].startswith(("SchemaConflictError: ", "IncompatibleSchemaError"))

    registry, other = producers.registry(), producers.registry()
    usable = [str(each.key) for each in registry.versions("sensor")]
    assert usable == [str(each.key) for each in other.versions("sensor")]
    assert usable[1:] == [id_ for id_, _, _ in winners]
    records = [(id_, event) for id_, event in producers.records(registry) if len(event) > 2]
    assert met > count / 2, "they hardly ever met"
    races.count_seen(met)
    races.check(
        [
            (name, (id_, event[name]))
            for (id_, event), (_, name, _) in zip(records, winners, strict=True)
        ],
        {name: (id_, value) for id_, name, value in winners},
    )
    losers = {1: "warm", "warm": 1}
    kept = {next(iter(each["event"].items())) for each in producers.rejected()}
    assert kept == {(name, losers[value]) for _, name, value in winners}
    assert len(producers.rejected()) == count


@pytest.mark.parametrize("producers", ["NONE"], indirect=True)
def test_times_of_two_forms_are_both_written(producers: Producers, cloud: Cloud) -> None:
    cloud.state(Faults).add(kind=Kind.MEET, service="glue", operation="CreateSchema", seconds=20)
    producers.set_environment(PENSTOCK_SCHEMA_NAME="times")

    answers = producers.invoke_at_once({"timestamp": 5}, {"timestamp": "2026-11-21T08:00:00Z"})

    assert [error for _, error in answers] == [None, None], answers
    assert [answer["schema"]["version"] for answer, _ in answers] == [1, 1]
    schema = {"RegistryName": producers.name, "SchemaName": "times"}
    stored = producers.client("glue").list_schema_versions(SchemaId=schema)["Schemas"]
    assert len(stored) == 2, "they did not meet"
