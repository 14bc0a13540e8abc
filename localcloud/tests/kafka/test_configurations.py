"""Configurations: revisions of server properties."""

from __future__ import annotations

import pytest

from tests.refusals import refusal

_UNKNOWN = "arn:aws:kafka:eu-central-1:111111111111:configuration/none/5b3d-1"


def test_revisions_are_kept(kafka, make_configuration):
    arn = make_configuration("num.partitions=3", Description="first")
    changed = kafka.update_configuration(
        Arn=arn, Description="second", ServerProperties=b"# more\n\nnum.partitions=4\n"
    )
    assert changed["LatestRevision"]["Revision"] == 2

    first = kafka.describe_configuration_revision(Arn=arn, Revision=1)
    assert (first["ServerProperties"], first["Description"]) == (b"num.partitions=3", "first")
    shown = kafka.describe_configuration(Arn=arn)
    assert (shown["State"], shown["LatestRevision"]["Revision"]) == ("ACTIVE", 2)
    revisions = kafka.list_configuration_revisions(Arn=arn)["Revisions"]
    assert [each["Description"] for each in revisions] == ["first", "second"]
    listed = kafka.list_configurations()["Configurations"]
    assert arn in {each["Arn"] for each in listed}


def test_a_deleted_configuration_is_gone(kafka, make_configuration):
    arn = make_configuration("")
    assert kafka.delete_configuration(Arn=arn)["State"] == "DELETING"
    # Terraform's provider takes this text, and no other, for gone.
    assert refusal(kafka.describe_configuration, Arn=arn) == (
        "BadRequestException",
        f"Configuration ARN does not exist: {arn}",
    )


def test_a_used_configuration_stays(kafka, make_cluster, make_configuration):
    arn = make_configuration("")
    name = make_cluster(ConfigurationInfo={"Arn": arn, "Revision": 1})["ClusterName"]
    _, message = refusal(kafka.delete_configuration, Arn=arn)
    assert message == f"The configuration is used by the cluster {name}"


def test_a_name_is_taken_once(kafka, make_configuration):
    name = make_configuration("").split("/")[1]
    assert refusal(kafka.create_configuration, Name=name, ServerProperties=b"") == (
        "ConflictException",
        f"A configuration named {name} already exists",
    )
    _, message = refusal(kafka.create_configuration, Name="a b", ServerProperties=b"")
    assert message == "The configuration name 'a b' is not letters, digits and hyphens"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"num.partitions", "The server properties hold 'num.partitions', which is not name=value"),
        (b"listeners=A://", "Amazon MSK does not let the server property 'listeners' be set"),
    ],
)
def test_properties_that_msk_does_not_take_are_refused(kafka, make_configuration, text, message):
    assert refusal(kafka.create_configuration, Name="x", ServerProperties=text)[1] == message
    arn = make_configuration("")
    assert refusal(kafka.update_configuration, Arn=arn, ServerProperties=text)[1] == message


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("update_configuration", {"ServerProperties": b""}),
        ("describe_configuration_revision", {"Revision": 1}),
        ("list_configuration_revisions", {}),
        ("delete_configuration", {}),
    ],
)
def test_unknown_configurations_are_refused(kafka, client, make_configuration, name, params):
    code, message = refusal(getattr(kafka, name), Arn=_UNKNOWN, **params)
    assert (code, message) == (
        "BadRequestException",
        f"Configuration ARN does not exist: {_UNKNOWN}",
    )
    foreign = client("kafka", account="222222222222")
    arn = make_configuration("")
    assert "does not exist" in refusal(getattr(foreign, name), Arn=arn, **params)[1]


def test_the_list_has_pages(kafka, make_configuration):
    arns = {make_configuration("") for _ in range(3)}
    pages = kafka.get_paginator("list_configurations").paginate(PaginationConfig={"PageSize": 2})
    assert arns <= {each["Arn"] for page in pages for each in page["Configurations"]}
    assert refusal(kafka.list_configurations, NextToken="x") == (
        "BadRequestException",
        "The NextToken 'x' is unknown",
    )
