"""What a mapping says of itself: what keeps it from its brokers, and its line in the status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import requests

from localcloud.identity.credentials import SessionKeys
from localcloud.services.lambda_.execution import poller_variables
from localcloud.testing import deploy, invoke, is_running
from localcloud.testing.policies import allow, make_role, trust
from tests.mappings.unconnected import NOWHERE, create, function, settle

__all__ = ["create", "function"]


def test_a_broken_network_path_is_reported(client, create):
    identity = create(Enabled=True, servers=NOWHERE)["UUID"]
    shown = settle(client, identity)
    assert shown["State"] == "Enabled"
    assert shown["LastProcessingResult"].startswith("PROBLEM: 127.0.0.1:9 ")
    assert "Connection refused" in shown["LastProcessingResult"]


def test_an_unresolvable_name_is_reported(client, create):
    servers = ["b-1.nowhere.abc.c1.kafka.eu-central-1.amazonaws.com:9096"]
    shown = settle(client, create(Enabled=True, servers=servers)["UUID"])
    assert servers[0] in shown["LastProcessingResult"]
    assert shown["LastProcessingResult"].endswith(" does not resolve")


def test_a_missing_subnet_is_reported(client, create):
    access = [{"Type": "VPC_SUBNET", "URI": "subnet:subnet-0123"}]
    shown = settle(client, create(Enabled=True, SourceAccessConfigurations=access)["UUID"])
    assert "there is no subnet subnet-0123 in any account" in shown["LastProcessingResult"]


def test_a_role_that_cannot_manage_interfaces_is_reported(client, create):
    role = make_role(client("iam"), trust({"Service": "lambda.amazonaws.com"}), allow("ec2:D*"))
    access = [{"Type": "VPC_SUBNET", "URI": "subnet:subnet-0123"}]
    made = create(
        Enabled=True, FunctionName=deploy(client, Role=role), SourceAccessConfigurations=access
    )
    problem = settle(client, made["UUID"])["LastProcessingResult"]
    assert problem.startswith("PROBLEM: ")
    assert problem.endswith(
        f"the role {role} lacks ec2:CreateNetworkInterface, which a mapping in a VPC needs"
    )


def test_the_keys_of_a_poller_last_for_more_than_a_year(cloud, client, create, function):
    record = client("lambda").get_event_source_mapping(UUID=create()["UUID"])
    variables, _ = poller_variables(cloud, record)
    key = cloud.state(SessionKeys).find(variables["AWS_ACCESS_KEY_ID"])
    assert key.expires_at > datetime.now(UTC) + timedelta(days=365)


def test_an_unreadable_secret_is_reported(client, create):
    arn = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:nobody-abcdef"
    access = [{"Type": "SASL_SCRAM_512_AUTH", "URI": arn}]
    shown = settle(client, create(Enabled=True, SourceAccessConfigurations=access)["UUID"])
    assert shown["LastProcessingResult"].startswith(f"PROBLEM: the secret {arn} cannot be read: ")
    assert "AccessDenied" in shown["LastProcessingResult"]  # the role has no right to it


def test_status_lists_mappings_and_functions(client, cloud, create, function):
    invoke(client, function)
    identity = create(Enabled=True, servers=NOWHERE)["UUID"]
    settle(client, identity)
    status = requests.get(f"{cloud.endpoint}/_localcloud/status", timeout=60).json()
    (mapping,) = [one for one in status["mappings"] if one["uuid"] == identity]
    assert (mapping["function"], mapping["topics"]) == (function, ["orders"])
    assert mapping["result"].startswith("PROBLEM: ")
    _check_process(mapping)
    (told,) = [one for one in status["functions"] if one["name"] == function]
    assert (told["account"], told["region"]) == ("111111111111", "eu-central-1")
    (environment,) = told["environments"]
    assert environment["state"] == "idle"
    _check_process(environment)


def test_status_of_a_mapping_without_a_poller_has_no_process(client, cloud, create):
    identity = create()["UUID"]
    settle(client, identity)
    status = requests.get(f"{cloud.endpoint}/_localcloud/status", timeout=60).json()
    (mapping,) = [one for one in status["mappings"] if one["uuid"] == identity]
    assert (mapping["state"], mapping.get("pid")) == ("Disabled", None)


def _check_process(told):
    """See that what `status` tells of a process is so: no Python is smaller or as quick."""
    assert is_running(told["pid"])
    assert 0.01 <= told["start_seconds"] < 60
    assert 5 <= told["memory_mb"] < 1000
