"""Apicurio behind network interfaces of VPCs, with a secret for it in the producer's account."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from localcloud.registry import start_registry
from penstock.registry import load_registry
from tests.e2e.accounts import PRODUCER, Accounts

_HOST, _PORT = "schemas.corp.example", 8080
URL = f"apicurio+http://{_HOST}:{_PORT}"
CONFLUENT_URL = f"confluent+http://{_HOST}:{_PORT}/apis/ccompat/v7"


@dataclass
class Registry:
    """The resources of the registry's team in the accounts, until they are deleted."""

    accounts: Accounts
    secret_arn: str
    # Account, interface and its security group.
    _entries: list[tuple[str, str, str]] = field(default_factory=list)

    @classmethod
    def prepare(cls, accounts: Accounts, password: str) -> Registry:
        """Make the secret; a registry without logins takes any."""
        made = accounts.client("secretsmanager", PRODUCER).create_secret(
            Name="registry", SecretString=json.dumps({"username": "u", "password": password})
        )
        return cls(accounts, made["ARN"])

    @property
    def url(self) -> str:
        """Return its address on this machine."""
        return str(start_registry(self.accounts.cloud)["url"])

    def enter(self, account: str, name: str) -> str:
        """Put it into a VPC, whose members it lets in; return its security group."""
        ec2 = self.accounts.client("ec2", account)
        named = [{"Name": "tag:Name", "Values": [name]}]
        (vpc,) = ec2.describe_vpcs(Filters=named)["Vpcs"]
        place = [{"Name": "vpc-id", "Values": [vpc["VpcId"]]}]
        subnet = ec2.describe_subnets(Filters=place)["Subnets"][0]["SubnetId"]
        group = ec2.create_security_group(
            VpcId=vpc["VpcId"], GroupName="registry", Description="registry"
        )["GroupId"]
        members = {"IpRanges": [{"CidrIp": vpc["CidrBlock"]}]}
        rule = {"IpProtocol": "tcp", "FromPort": _PORT, "ToPort": _PORT, **members}
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
        made = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]
        self._entries.append((account, made["NetworkInterfaceId"], group))
        start_registry(self.accounts.cloud, interface=made["NetworkInterfaceId"], host=_HOST)
        return group

    def list_fields(self, schema: str) -> list[set[str]]:
        """Return the fields of each version of a schema, asked from this machine."""
        registry = load_registry(f"apicurio+{self.url}")
        return [
            {one["name"] for one in version.schema["fields"]}
            for version in registry.versions(schema)
        ]

    def leave(self) -> None:
        """Delete what was made in the accounts."""
        for account, interface, group in self._entries:
            ec2 = self.accounts.client("ec2", account)
            ec2.delete_network_interface(NetworkInterfaceId=interface)
            _forget(ec2, group)
            ec2.delete_security_group(GroupId=group)
        self.accounts.client("secretsmanager", PRODUCER).delete_secret(
            SecretId=self.secret_arn, ForceDeleteWithoutRecovery=True
        )


def _forget(ec2: Any, group: str) -> None:
    """Delete the rules that name a group, as an apply without the registry does."""
    for page in ec2.get_paginator("describe_security_group_rules").paginate():
        for rule in page["SecurityGroupRules"]:
            if rule.get("ReferencedGroupInfo", {}).get("GroupId") == group:
                way = "egress" if rule["IsEgress"] else "ingress"
                revoke = getattr(ec2, f"revoke_security_group_{way}")
                revoke(GroupId=rule["GroupId"], SecurityGroupRuleIds=[rule["SecurityGroupRuleId"]])
