"""Zones that are made with a VPC are private and answer there."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

REGION = "eu-central-1"


@pytest.fixture
def dns(client):
    return client("route53")


@pytest.fixture
def make_vpc(client):
    def make(account="111111111111"):
        return client("ec2", account).create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]

    return make


def make_zone(dns, name, vpc):
    made = dns.create_hosted_zone(
        Name=name, CallerReference=f"{name} {vpc}", VPC={"VPCRegion": REGION, "VPCId": vpc}
    )
    return made["HostedZone"]["Id"].removeprefix("/hostedzone/")


def vpcs_of(dns, zone):
    return [it["VPCId"] for it in dns.get_hosted_zone(Id=zone)["VPCs"]]


def test_a_zone_made_with_a_vpc_is_private(dns, make_vpc):
    vpc = make_vpc()

    zone = make_zone(dns, "one.example.com", vpc)

    found = dns.get_hosted_zone(Id=zone)
    assert found["HostedZone"]["Config"]["PrivateZone"] is True
    assert found["HostedZone"]["Name"] == "one.example.com."
    assert vpcs_of(dns, zone) == [vpc]
    listed = dns.list_hosted_zones_by_vpc(VPCId=vpc, VPCRegion=REGION)["HostedZoneSummaries"]
    assert [it["Name"] for it in listed] == ["one.example.com."]


def test_a_zone_without_a_vpc_is_public(dns):
    made = dns.create_hosted_zone(Name="open.example.com", CallerReference="open")

    assert made["HostedZone"]["Config"]["PrivateZone"] is False


@pytest.mark.parametrize("account", [None, "222222222222"])
def test_a_vpc_must_be_the_accounts_own(dns, make_vpc, account):
    vpc = make_vpc(account) if account else "vpc-0"

    with pytest.raises(ClientError, match=f"The VPC {vpc} does not exist in account") as refused:
        make_zone(dns, "two.example.com", vpc)

    assert refused.value.response["Error"]["Code"] == "InvalidVPCId"


def test_a_vpc_has_one_zone_of_a_name(dns, make_vpc):
    vpc = make_vpc()
    make_zone(dns, "three.example.com", vpc)

    with pytest.raises(ClientError, match="is already associated with hosted zone") as refused:
        make_zone(dns, "three.example.com", vpc)

    assert refused.value.response["Error"]["Code"] == "ConflictingDomainExists"


def test_a_zone_answers_in_every_vpc_it_is_associated_with(dns, make_vpc):
    first, second = make_vpc(), make_vpc()
    zone = make_zone(dns, "four.example.com", first)

    dns.associate_vpc_with_hosted_zone(
        HostedZoneId=zone, VPC={"VPCRegion": REGION, "VPCId": second}
    )

    assert vpcs_of(dns, zone) == [first, second]


def test_an_association_is_refused_like_a_zone(dns, make_vpc):
    first, second = make_vpc(), make_vpc()
    zone = make_zone(dns, "five.example.com", first)
    make_zone(dns, "five.example.com", second)

    for vpc, code in ((second, "ConflictingDomainExists"), ("vpc-0", "InvalidVPCId")):
        with pytest.raises(ClientError) as refused:
            dns.associate_vpc_with_hosted_zone(
                HostedZoneId=zone, VPC={"VPCRegion": REGION, "VPCId": vpc}
            )
        assert refused.value.response["Error"]["Code"] == code


def test_a_record_comes_back_beside_others(dns, make_vpc):
    zone = make_zone(dns, "back.test", make_vpc())

    def change(action, name):
        record = {"Name": name, "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.0.0.1"}]}
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
        dns.change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch)

    change("CREATE", "a.back.test")
    change("CREATE", "b.back.test")
    change("DELETE", "a.back.test")
    change("CREATE", "a.back.test")

    shown = dns.list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]
    assert [one["Name"] for one in shown if one["Type"] == "A"] == ["a.back.test.", "b.back.test."]
    with pytest.raises(dns.exceptions.InvalidChangeBatch, match="already exists"):
        change("CREATE", "b.back.test")


@pytest.fixture
def terraform_dns(client):
    agent = "APN/1.0 HashiCorp/1.0 Terraform/1.11.4 terraform-provider-aws/5.100.0"
    return client("route53", config=Config(user_agent=agent))


def changes(dns, name, vpc, other):
    """Make all the changes of a zone's life, public and private, and return their answers."""
    made = dns.create_hosted_zone(
        Name=name, CallerReference=vpc, VPC={"VPCRegion": REGION, "VPCId": vpc}
    )
    zone = made["HostedZone"]["Id"].removeprefix("/hostedzone/")
    public = dns.create_hosted_zone(Name=name, CallerReference=f"public {vpc}")
    where = {"HostedZoneId": zone, "VPC": {"VPCRegion": REGION, "VPCId": other}}
    record = {
        "Name": f"a.{name}",
        "Type": "A",
        "TTL": 60,
        "ResourceRecords": [{"Value": "10.0.0.1"}],
    }
    yield made
    yield public
    yield dns.associate_vpc_with_hosted_zone(**where)
    yield dns.disassociate_vpc_from_hosted_zone(**where)
    for action in ("CREATE", "DELETE"):
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
        yield dns.change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch)
    yield dns.delete_hosted_zone(Id=zone)


def test_a_change_is_in_place_at_once(dns, make_vpc):
    for answer in changes(dns, "six.example.com", make_vpc(), make_vpc()):
        assert answer["ChangeInfo"]["Status"] == "INSYNC"


def test_terraform_gets_no_change_to_wait_for(terraform_dns, make_vpc):
    answers = list(changes(terraform_dns, "seven.example.com", make_vpc(), make_vpc()))

    assert not [it for it in answers if "ChangeInfo" in it]
    assert answers[0]["HostedZone"]["Config"]["PrivateZone"] is True
    assert answers[1]["DelegationSet"]["NameServers"]


def test_records_of_one_zone_that_change_at_once_can_all_be_deleted(client) -> None:
    route53 = client("route53", config=Config(max_pool_connections=8))
    zone = route53.create_hosted_zone(Name="many.test", CallerReference="many")["HostedZone"]["Id"]

    def change(action, number):
        record = {
            "Name": f"r{number}.many.test",
            "Type": "A",
            "TTL": 60,
            "ResourceRecords": [{"Value": "10.0.0.1"}],
        }
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
        route53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch)

    def make_and_delete(first):
        for number in range(first, 200, 8):
            change("CREATE", number)
            change("DELETE", number)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads take turns in the middle of a change
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(make_and_delete, range(8)))
    finally:
        sys.setswitchinterval(before)

    route53.delete_hosted_zone(Id=zone)
