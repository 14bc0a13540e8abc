"""The story of `make demo`: its output, and the failure that it reports for each broken part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

import pytest

from demo.lake import source_of
from demo.screen import StepFailedError, print_failure
from localcloud.faults import Faults, Kind
from localcloud.testing import invoke, wait_until
from tests.e2e.accounts import CONSUMER, PRODUCER

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_NESTED = {
    "location": {"latitude": Decimal("52.52"), "longitude": Decimal("13.405")},
    "samples": [{"at": 1, "value": Decimal("0.5")}, {"at": 2}],
}


def test_the_table_of_the_seed(stories):
    (first, printed), _ = stories
    assert [(one.event, one.answer["schema"]["version"]) for one in first.sent[:3]] == [
        ({}, 1),
        ({"temperature": 30}, 2),
        ({}, 1),
    ]
    assert [one.answer["schema"]["created"] for one in first.sent] == [True, True, False, True]
    assert [_fields(first.rows[one.source]) for one in first.sent] == [
        {"_schema": 1},
        {"_schema": 2, "temperature": 30},
        {"_schema": 1},
        {"_schema": 3} | _NESTED,
    ]
    assert first.before == {}
    assert list(first.versions) == [
        "v1  the first",
        "v2  + temperature: long (optional)",
        "v3  - temperature: long (optional)",
        "    + location: record location (optional)",
        "    + samples: array of record samples (optional) (optional)",
    ]
    assert all(f"      {line}\n" in printed for line in first.versions)


def test_a_second_run_adds_its_rows_and_no_version(stories):
    (first, _), (again, _) = stories
    assert [one.answer["schema"]["version"] for one in again.sent] == [1, 2, 1, 3]
    assert not any(one.answer["schema"]["created"] for one in again.sent)
    assert again.versions == first.versions
    assert again.before == first.rows
    assert again.rows.keys() - first.rows.keys() == {one.source for one in again.sent}
    assert {source: again.rows[source] for source in first.rows} == first.rows


def test_the_lake_has_what_the_job_read_each_record_once(stories):
    (first, printed), (again, _) = stories
    columns = ("temperature", "latitude", "longitude", "_schema_version")
    wanted = {(None, None, None, "1"), ("30", None, None, "2"), (None, "52.52", "13.405", "3")}
    for one in (first, again):
        assert {tuple(row[name] for name in columns) for row in one.lake} == wanted
        assert sorted(map(source_of, one.lake)) == sorted(one.rows)
        assert {row["device"] for row in one.lake} == {"000001"}
    assert "      000001  3                     52.52     13.405     3\n" in printed


@dataclass(frozen=True)
class Break:
    """How the demo names the place, the reason and a line that tells of it; and the mending."""

    where: str
    why: str
    line: str
    mend: Callable[[], object]


def _no_records(accounts):
    """The private zone of the consumer forgets the brokers."""
    route53 = accounts.client("route53", CONSUMER)
    (zone,) = route53.list_hosted_zones()["HostedZones"]
    listed = route53.list_resource_record_sets(HostedZoneId=zone["Id"])["ResourceRecordSets"]
    records = [record for record in listed if record["Type"] == "A"]

    def change(action):
        changes = [{"Action": action, "ResourceRecordSet": record} for record in records]
        route53.change_resource_record_sets(
            HostedZoneId=zone["Id"], ChangeBatch={"Changes": changes}
        )

    host = records[0]["Name"].rstrip(".")
    change("DELETE")
    return Break(
        f"consumer account {CONSUMER}, records: ",
        f"no record {host}",
        "penstock explain record-wrong",
        lambda: change("UPSERT"),
    )


def _no_targets(accounts):
    """The load balancers of the producer forget the brokers."""
    elb = accounts.client("elbv2", PRODUCER)
    groups = [one["TargetGroupArn"] for one in elb.describe_target_groups()["TargetGroups"]]
    targets = {}
    for group in groups:
        shown = elb.describe_target_health(TargetGroupArn=group)["TargetHealthDescriptions"]
        targets[group] = [one["Target"] for one in shown]
        elb.deregister_targets(TargetGroupArn=group, Targets=targets[group])

    def mend():
        for group in groups:
            elb.register_targets(TargetGroupArn=group, Targets=targets[group])

    return Break(
        f"producer account {PRODUCER}, targets: ",
        "b-1: the target is missing",
        "penstock explain target-wrong",
        mend,
    )


def _no_access_list(accounts):
    """The brokers forget what the consumer may read."""
    contract = accounts.producer.outputs()["contracts"]["analytics"]
    program = contract["programs"]["functions"]
    (username,) = program["usernames"]
    gone = {"action": "delete", "prev_input": None}
    _call_access(accounts, {"reader": {"username": username}, "tf": gone})
    named = ("group_prefix", "topics", "transactions", "writes")
    seen = [each["group_prefix"] for each in contract["programs"].values()]
    reader = {name: program[name] for name in named} | {"seen_groups": seen}
    wanted = {"topics": {}, "readers": {username: reader}}
    return Break(
        f"consumer account {CONSUMER}, mappings: ",
        "topic 'sensor' does not exist or the user may not describe it",
        "penstock explain mapping-problem",
        lambda: _call_access(accounts, {"wanted": wanted}),
    )


def _denied_table(accounts):
    """The consumer's table refuses the function."""
    faults = accounts.cloud.state(Faults)
    denied = {"code": "AccessDeniedException", "status": 400}
    faults.add(kind=Kind.ERROR, service="dynamodb", operation="BatchWriteItem", **denied)
    return Break(
        f"consumer account {CONSUMER}, mappings: ",
        "PROBLEM: Function call failed",
        "ERROR the batch must be delivered again: DynamoDB's BatchWriteItem was refused: ",
        faults.clear,
    )


def _call_access(accounts, event):
    answer, error = invoke(partial(accounts.client, account=PRODUCER), "penstock-access", event)
    assert error is None, answer


@pytest.mark.usefixtures("stories")
@pytest.mark.parametrize(
    "makes",
    [(_no_targets, _no_records), (_no_access_list,), (_denied_table,)],
    ids=["way", "access list", "table"],
)
def test_a_break_is_reported_with_account_and_hop_and_nothing_is_lost(accounts, capsys, makes):
    """The failure nearest to the brokers is reported first, then the next one behind it."""
    story = accounts.make_story("analytics", row_seconds=1)
    broken = [make(accounts) for make in makes]
    try:
        sent = story.send("add_temperature")
        for one in broken:
            said = wait_until(one.why, lambda one=one: _find_reported(story, sent, one))
            print_failure(said)
            _, reported, *lines = capsys.readouterr().out.splitlines()
            assert reported.startswith(one.where)
            assert f": no row for {sent.source} within 1 s: " in reported
            assert "Traceback" not in "".join(lines)
            one.mend()
    finally:
        for one in broken:
            one.mend()
    row = accounts.await_row("analytics", sent.answer)
    assert _fields(row) == {"_schema": 2, "temperature": 30}


@pytest.mark.nightly
@pytest.mark.usefixtures("stories")
def test_a_job_that_does_not_end_is_reported_with_account_and_hop(accounts):
    story = accounts.make_story("analytics", job_seconds=0)
    broken = _no_records(accounts)
    try:
        with pytest.raises(StepFailedError) as caught:
            story.run_jobs("consume")
    finally:
        broken.mend()
    assert str(caught.value).startswith(broken.where)
    assert broken.why in caught.value.why


def test_a_rejected_event_is_reported_with_account_and_function(accounts, stories, capsys):
    with pytest.raises(StepFailedError) as caught:
        accounts.make_story("analytics").send("contradict_temperature")
    print_failure(caught.value)
    _, said, *lines = capsys.readouterr().out.splitlines()
    where = f"producer account {PRODUCER}, function penstock-producer"
    assert said.startswith(f"{where}: it rejected contradict_temperature.json: SchemaConflict")
    assert "temperature: found the string 'warm', expected long" in said
    *_, last = [line for line in lines if "WARNING an event was not written" in line]
    assert " reason=SchemaConflictError " in last
    assert "Traceback" not in "".join(lines)


def _find_reported(story, sent, broken):
    """The demo's error once it names this break: the mapping may notice it a little late."""
    with pytest.raises(StepFailedError) as caught:
        story.await_rows([sent])
    lines = caught.value.lines or [""]
    reported = broken.why in caught.value.why and any(broken.line in line for line in lines)
    return caught.value if reported else None


def _fields(row):
    own = {"deviceId", "readingId", "timestamp", "_topic", "_source", "_schemaId"}
    assert own <= row.keys()
    return {name: value for name, value in row.items() if name not in own}
