"""The life of an EMR Serverless application, by boto3."""

from __future__ import annotations

import itertools

import pytest

from localcloud.services.emr_serverless import applications
from localcloud.testing import wait_until
from tests.refusals import fails

_NUMBERS = itertools.count(1)
_NO_APPLICATION = "00ffffffffffffff"


@pytest.fixture
def account():
    """Give an account that nobody has used."""
    return f"9100{next(_NUMBERS):08}"


@pytest.fixture
def emr(client, account):
    return client("emr-serverless", account=account)


@pytest.fixture
def create(emr):
    """Make an application, and give its id."""

    def make(**settings):
        asked = {"releaseLabel": "emr-spark-8.1.0", "type": "SPARK"} | settings
        return emr.create_application(**asked)["applicationId"]

    return make


def _state(emr, application_id):
    return emr.get_application(applicationId=application_id)["application"]["state"]


def _refuse_change(emr, application_id, state):
    said = (
        f"Application {application_id} must be in of the following statuses [CREATED, STOPPED]. "
        f"Current status: {state}"
    )
    for call in (emr.delete_application, emr.update_application):
        fails("ValidationException", said, call, applicationId=application_id)


def test_an_application_is_made_and_described(emr, account):
    capacity = {
        "Driver": {"workerCount": 1, "workerConfiguration": {"cpu": "2vCPU", "memory": "4GB"}}
    }
    asked = {
        "name": "lake",
        "releaseLabel": "emr-spark-8.1.0",
        "type": "spark",
        "initialCapacity": capacity,
        "maximumCapacity": {"cpu": "8 vCPU", "memory": "32 GB"},
        "networkConfiguration": {"subnetIds": ["subnet-1"], "securityGroupIds": ["sg-1"]},
        "tags": {"team": "one"},
    }
    made = emr.create_application(**asked)

    found = emr.get_application(applicationId=made["applicationId"])["application"]
    arn = f"arn:aws:emr-serverless:eu-central-1:{account}:/applications/{found['applicationId']}"
    assert made["arn"] == found["arn"] == arn
    assert {name: found[name] for name in asked} == asked | {"type": "Spark"}
    assert (found["state"], found["architecture"]) == ("CREATED", "X86_64")
    assert found["autoStartConfiguration"] == {"enabled": True}
    assert found["autoStopConfiguration"] == {"enabled": True, "idleTimeoutMinutes": 15}
    assert found["createdAt"] == found["updatedAt"]


def test_an_invalid_application_is_rejected(emr):
    create, label = emr.create_application, "emr-spark-8.1.0"
    said = "Type FLINK is not supported, only Spark or Hive"
    fails("ValidationException", said, create, releaseLabel=label, type="FLINK")
    said = "1 validation error detected: Value '!' at 'name' failed to satisfy constraint: "
    fails("ValidationException", said, create, releaseLabel=label, type="SPARK", name="!")
    for unknown in ("emr-7.99.0", "emr-8.1.0", "emr-spark-8", "emr-6.5.0"):
        said = f"Release label {unknown} is not supported, expected one like emr-spark-8.1.0"
        fails("ValidationException", said, create, releaseLabel=unknown, type="SPARK")
    assert emr.list_applications()["applications"] == []
    said = f"Application {_NO_APPLICATION} does not exist"
    fails("ResourceNotFoundException", said, emr.get_application, applicationId=_NO_APPLICATION)


def test_the_same_token_makes_one_application(emr, create):
    assert create(clientToken="t") == create(clientToken="t")
    assert create() != create()
    said = "Client token t was used for an application with other settings"
    with pytest.raises(emr.exceptions.ConflictException, match=said):
        create(clientToken="t", name="other")


def test_applications_are_listed_by_state_and_page(emr, create):
    ids = [create(name=name) for name in "abc"]
    emr.start_application(applicationId=ids[1])

    first = emr.list_applications(maxResults=2)
    second = emr.list_applications(maxResults=2, nextToken=first["nextToken"])
    started = emr.list_applications(states=["STARTED"])

    names = [[each["name"] for each in page["applications"]] for page in (first, second, started)]
    assert names == [["a", "b"], ["c"], ["b"]]
    assert "nextToken" not in second
    said = "nextToken 'x' is unknown"
    fails("ValidationException", said, emr.list_applications, nextToken="x")


def test_an_application_is_started_stopped_and_deleted(emr, create, monkeypatch):
    made = create()
    emr.start_application(applicationId=made)
    assert _state(emr, made) == "STARTED"

    _refuse_change(emr, made, "STARTED")

    timers = []
    monkeypatch.setattr(applications, "_end_later", timers.append)
    emr.stop_application(applicationId=made)
    assert _state(emr, made) == "STOPPING"
    _refuse_change(emr, made, "STOPPING")
    (end,) = timers
    end()
    assert _state(emr, made) == "STOPPED"
    said = (
        "Application cannot be STOPPED. Applications must be in one of the following statuses: "
        "[STARTING, STARTED]"
    )
    fails("ValidationException", said, emr.stop_application, applicationId=made)

    emr.delete_application(applicationId=made)
    assert _state(emr, made) == "TERMINATED"
    said = f"Application {made} is TERMINATED and cannot be started; it must be CREATED, STARTED"
    fails("ValidationException", said, emr.start_application, applicationId=made)


def test_an_application_that_is_started_while_it_stops_stays_started(emr, create, monkeypatch):
    made = create()
    timers = []
    monkeypatch.setattr(applications, "_end_later", timers.append)
    emr.start_application(applicationId=made)
    emr.stop_application(applicationId=made)

    emr.start_application(applicationId=made)
    timers[0]()

    assert _state(emr, made) == "STARTED"


def test_an_application_that_stops_is_stopped_by_itself(emr, create):
    made = create()
    emr.start_application(applicationId=made)
    emr.stop_application(applicationId=made)

    wait_until(f"{made} is STOPPED", lambda: _state(emr, made) == "STOPPED")


def test_an_application_at_rest_is_updated(emr, create):
    made = create(maximumCapacity={"cpu": "8 vCPU", "memory": "32 GB"})
    more = {"cpu": "16 vCPU", "memory": "64 GB"}

    shown = emr.update_application(applicationId=made, maximumCapacity=more)["application"]

    found = emr.get_application(applicationId=made)["application"]
    assert shown == found
    assert (found["maximumCapacity"], found["type"]) == (more, "Spark")
    assert found["updatedAt"] > found["createdAt"]


def test_tags_come_and_go(emr, create):
    arn = emr.get_application(applicationId=create(tags={"a": "1"}))["application"]["arn"]

    emr.tag_resource(resourceArn=arn, tags={"b": "2"})
    emr.untag_resource(resourceArn=arn, tagKeys=["a"])

    assert emr.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "2"}
    other = arn.rpartition("/")[0] + f"/{_NO_APPLICATION}"
    for call, more in (
        (emr.tag_resource, {"tags": {}}),
        (emr.untag_resource, {"tagKeys": ["a"]}),
        (emr.list_tags_for_resource, {}),
    ):
        said = f"Application {_NO_APPLICATION} does not exist"
        fails("ResourceNotFoundException", said, call, resourceArn=other, **more)


def test_another_account_sees_no_application(client, create):
    stranger = client("emr-serverless", account="222222222222")

    said = "Application "
    fails("ResourceNotFoundException", said, stranger.get_application, applicationId=create())
