"""Breaks of both accounts, each by one call, and how each is mended.

Rules are modified in place, since Terraform knows them by their ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from demo.accounts import Account
from localcloud.testing import wait_until

Mend = Callable[[], Any]
_DENIED = {"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}
_DENY = json.dumps({"Version": "2012-10-17", "Statement": [_DENIED]})


@dataclass(frozen=True)
class Broken:
    """Both accounts, the contract, and the outputs of both roots."""

    producer: Account
    consumer: Account
    contract: dict[str, Any]
    produced: dict[str, Any]
    consumed: dict[str, Any]

    def p(self, service: str) -> Any:
        """Open a client of the producer's account."""
        return Account.client(self.producer, service)

    def c(self, service: str) -> Any:
        """Open a client of the consumer's account."""
        return Account.client(self.consumer, service)

    @property
    def network(self) -> dict[str, Any]:
        """Return the consumer's network."""
        return self.consumed["platform"]["network"]

    @property
    def function(self) -> str:
        """Return the consumer function."""
        return self.consumed["functions"]["consumer"]["name"]

    @property
    def reader(self) -> str:
        """Return the name of the reader role."""
        return self.contract["registry"]["role_arn"].rpartition("/")[2]

    def client_group(self) -> str:
        """Return the security group of the consumer function."""
        found = self.c("lambda").get_function_configuration(FunctionName=self.function)
        (group,) = found["VpcConfig"]["SecurityGroupIds"]
        return str(group)

    def balancer(self) -> dict[str, Any]:
        """Return the load balancer of the first broker."""
        balancers = self.p("elbv2").describe_load_balancers()["LoadBalancers"]
        return next(each for each in balancers if each["LoadBalancerName"].endswith("-b-1"))

    def group(self) -> str:
        """Return the target group of the first broker."""
        arn = self.balancer()["LoadBalancerArn"]
        (found,) = self.p("elbv2").describe_target_groups(LoadBalancerArn=arn)["TargetGroups"]
        return found["TargetGroupArn"]

    def endpoint(self, service: str) -> dict[str, Any]:
        """Return the consumer's endpoint for a service."""
        wanted = [{"Name": "service-name", "Values": [service]}]
        (found,) = self.c("ec2").describe_vpc_endpoints(Filters=wanted)["VpcEndpoints"]
        return found

    def own_endpoint(self) -> dict[str, Any]:
        """Return the consumer's endpoint for the first broker."""
        return self.endpoint(self.contract["brokers"]["1"]["service_name"])

    def aws_endpoint(self, name: str) -> dict[str, Any]:
        """Return the consumer's endpoint for a service of AWS."""
        return self.endpoint(f"com.amazonaws.{self.contract['region']}.{name}")


def move_rule(ec2: Any, group: str, *, outgoing: bool, port: int, peer: str = "") -> Mend:
    """Move a rule of a security group to another port; the call that moves it back."""
    listed = ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])
    rule = next(
        each
        for each in listed["SecurityGroupRules"]
        if each["IsEgress"] == outgoing
        and each["FromPort"] <= port <= each["ToPort"]
        and peer in {"", each.get("ReferencedGroupInfo", {}).get("GroupId")}
    )

    def move(ports: tuple[int, int]) -> None:
        changed = {
            "Description": rule.get("Description", ""),
            "IpProtocol": "tcp",
            "FromPort": ports[0],
            "ToPort": ports[1],
            "ReferencedGroupId": rule["ReferencedGroupInfo"]["GroupId"],
        }
        moved = {"SecurityGroupRuleId": rule["SecurityGroupRuleId"], "SecurityGroupRule": changed}
        ec2.modify_security_group_rules(GroupId=group, SecurityGroupRules=[moved])

    move((1, 1))
    return lambda: move((rule["FromPort"], rule["ToPort"]))


def turn_off(attribute: str) -> Callable[[Broken], Mend]:
    """Turn an attribute of the consumer's VPC off."""

    def break_it(it: Broken) -> Mend:
        def turn(value: bool) -> None:
            it.c("ec2").modify_vpc_attribute(
                VpcId=it.network["vpc_id"], **{attribute: {"Value": value}}
            )

        turn(False)
        return lambda: turn(True)

    return break_it


def _find_record(it: Broken) -> tuple[str, dict[str, Any]]:
    route53 = it.c("route53")
    found = route53.list_hosted_zones_by_vpc(
        VPCId=it.network["vpc_id"], VPCRegion=it.contract["region"]
    )
    name = it.contract["cluster"]["zone_name"]
    zone = next(
        each["HostedZoneId"]
        for each in found["HostedZoneSummaries"]
        if each["Name"].rstrip(".") == name
    )
    host = it.contract["brokers"]["1"]["host"]
    records = route53.list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]
    return zone, next(each for each in records if each["Name"].rstrip(".") == host)


def _change(it: Broken, zone: str, action: str, record: dict[str, Any]) -> None:
    batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
    it.c("route53").change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch)


def delete_record(it: Broken) -> Mend:
    zone, record = _find_record(it)
    _change(it, zone, "DELETE", record)
    return lambda: _change(it, zone, "CREATE", record)


def misdirect_record(it: Broken) -> Mend:
    zone, record = _find_record(it)
    other = it.endpoint(it.contract["brokers"]["2"]["service_name"])["DnsEntries"][0]
    alias = record["AliasTarget"] | {"DNSName": other["DnsName"]}
    _change(it, zone, "UPSERT", record | {"AliasTarget": alias})
    return lambda: _change(it, zone, "UPSERT", record)


def reject_endpoint(it: Broken) -> Mend:
    ec2 = it.p("ec2")
    asked = {
        "ServiceId": it.contract["brokers"]["1"]["service_id"],
        "VpcEndpointIds": [it.own_endpoint()["VpcEndpointId"]],
    }
    ec2.reject_vpc_endpoint_connections(**asked)
    return lambda: ec2.accept_vpc_endpoint_connections(**asked)


def close_egress(it: Broken) -> Mend:
    return move_rule(it.c("ec2"), it.client_group(), outgoing=True, port=9096)


def close_ingress(it: Broken) -> Mend:
    (group,) = it.own_endpoint()["Groups"]
    client = it.client_group()
    return move_rule(it.c("ec2"), group["GroupId"], outgoing=False, port=9096, peer=client)


def close_services(it: Broken) -> Mend:
    (group,) = it.aws_endpoint("sts")["Groups"]
    client = it.client_group()
    return move_rule(it.c("ec2"), group["GroupId"], outgoing=False, port=443, peer=client)


def close_balancer(it: Broken) -> Mend:
    (group,) = it.balancer()["SecurityGroups"]
    return move_rule(it.p("ec2"), group, outgoing=True, port=9096)


def close_brokers(it: Broken) -> Mend:
    (peer,) = it.balancer()["SecurityGroups"]
    group = it.produced["platform"]["brokers"]["security_group_id"]
    return move_rule(it.p("ec2"), group, outgoing=False, port=9096, peer=peer)


def deny_at_endpoint(it: Broken) -> Mend:
    endpoint, ec2 = it.aws_endpoint("sts"), it.c("ec2")
    asked = {"VpcEndpointId": endpoint["VpcEndpointId"]}
    ec2.modify_vpc_endpoint(PolicyDocument=_DENY, **asked)
    return lambda: ec2.modify_vpc_endpoint(PolicyDocument=endpoint["PolicyDocument"], **asked)


def remove_route(it: Broken) -> Mend:
    endpoint, ec2 = it.aws_endpoint("dynamodb"), it.c("ec2")
    asked = {"VpcEndpointId": endpoint["VpcEndpointId"]}
    ec2.modify_vpc_endpoint(RemoveRouteTableIds=endpoint["RouteTableIds"], **asked)
    return lambda: ec2.modify_vpc_endpoint(AddRouteTableIds=endpoint["RouteTableIds"], **asked)


def _disable_key(client: Callable[[str], Any], secret: str) -> Mend:
    arn = client("secretsmanager").describe_secret(SecretId=secret)["KmsKeyId"]
    key = arn.rpartition("/")[2]
    client("kms").disable_key(KeyId=key)
    return lambda: client("kms").enable_key(KeyId=key)


def disable_key(it: Broken) -> Mend:
    logins = it.consumed["platform"]["brokers"]["logins"]
    return _disable_key(it.c, next(iter(logins.values()))["secret_arn"])


def disable_producers_key(it: Broken) -> Mend:
    return _disable_key(it.p, next(iter(it.contract["programs"].values()))["secret_arn"])


def delete_secret(it: Broken) -> Mend:
    secrets = it.c("secretsmanager")
    asked = {"SecretId": it.consumed["platform"]["brokers"]["logins"]["clients"]["secret_arn"]}
    secrets.delete_secret(RecoveryWindowInDays=7, **asked)
    return lambda: secrets.restore_secret(**asked)


def _stop_function(client: Any, name: str) -> Mend:
    client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    return lambda: client.delete_function_concurrency(FunctionName=name)


def stop_function(it: Broken) -> Mend:
    return _stop_function(it.c("lambda"), it.function)


def stop_producer(it: Broken) -> Mend:
    return _stop_function(it.p("lambda"), it.produced["functions"]["producer"])


def disable_mapping(it: Broken) -> Mend:
    client = it.c("lambda")
    uuid = it.consumed["functions"]["consumer"]["mappings"]["sensor"]
    client.update_event_source_mapping(UUID=uuid, Enabled=False)

    def mend() -> None:
        wait_until(
            "the mapping is disabled",
            lambda: client.get_event_source_mapping(UUID=uuid)["State"] == "Disabled",
        )
        client.update_event_source_mapping(UUID=uuid, Enabled=True)

    return mend


def disable_schedule(it: Broken) -> Mend:
    client = it.c("scheduler")
    prefix = f"{it.consumed['platform']['prefix']}-"
    name = client.list_schedule_groups(NamePrefix=prefix)["ScheduleGroups"][0]["Name"]
    found = client.get_schedule(GroupName=name, Name=name)
    names = ("ScheduleExpression", "FlexibleTimeWindow", "Target", "Description")
    asked = {"GroupName": name, "Name": name} | {each: found[each] for each in names}
    client.update_schedule(State="DISABLED", **asked)
    return lambda: client.update_schedule(State="ENABLED", **asked)


def name_other_lease(it: Broken) -> Mend:
    s3 = it.c("s3")
    place = {
        "Bucket": it.consumed["platform"]["lake"]["bucket"]["name"],
        "Key": "checkpoints/forgotten/penstock-lease/table",
    }
    s3.put_object(Body=b"penstock-analytics-former-errors", **place)
    return lambda: s3.delete_object(**place)


def revoke_grant(it: Broken) -> Mend:
    client = it.c("lakeformation")
    principals = it.consumed["platform"]["lake"]["principals"]
    asked = {"Resource": {"Database": {"Name": it.consumed["lake"]["database"]}}}
    role = principals[min(principals)]["arn"]
    granted = next(
        each
        for each in client.list_permissions(**asked)["PrincipalResourcePermissions"]
        if each["Principal"]["DataLakePrincipalIdentifier"] == role
    )
    words = {part: granted[part] for part in ("Principal", "Resource", "Permissions")}
    client.revoke_permissions(**words)
    return lambda: client.grant_permissions(**words)


def remove_principal(it: Broken) -> Mend:
    ec2 = it.p("ec2")
    service = {"ServiceId": it.contract["brokers"]["1"]["service_id"]}
    principals = [f"arn:aws:iam::{it.consumer.id}:root"]
    ec2.modify_vpc_endpoint_service_permissions(RemoveAllowedPrincipals=principals, **service)
    return lambda: ec2.modify_vpc_endpoint_service_permissions(
        AddAllowedPrincipals=principals, **service
    )


def move_listener(it: Broken) -> Mend:
    elbv2 = it.p("elbv2")
    arn = it.balancer()["LoadBalancerArn"]
    (listener,) = elbv2.describe_listeners(LoadBalancerArn=arn)["Listeners"]
    asked = {"ListenerArn": listener["ListenerArn"]}
    elbv2.modify_listener(Port=9097, **asked)
    return lambda: elbv2.modify_listener(Port=9096, **asked)


def remove_target(it: Broken) -> Mend:
    elbv2, group = it.p("elbv2"), it.group()
    (found,) = elbv2.describe_target_health(TargetGroupArn=group)["TargetHealthDescriptions"]
    asked = {"TargetGroupArn": group, "Targets": [found["Target"]]}
    elbv2.deregister_targets(**asked)
    return lambda: elbv2.register_targets(**asked)


def add_target(it: Broken) -> Mend:
    elbv2 = it.p("elbv2")
    nodes = it.p("kafka").list_nodes(ClusterArn=it.contract["cluster"]["arn"])["NodeInfoList"]
    brokers = [each["BrokerNodeInfo"] for each in nodes if "BrokerNodeInfo" in each]
    other = next(each for each in brokers if each["BrokerId"] == 2)
    added = {"Id": other["ClientVpcIpAddress"], "Port": 9096}
    asked = {"TargetGroupArn": it.group(), "Targets": [added]}
    elbv2.register_targets(**asked)
    return lambda: elbv2.deregister_targets(**asked)


def distrust_consumer(it: Broken) -> Mend:
    iam = it.p("iam")
    trust = iam.get_role(RoleName=it.reader)["Role"]["AssumeRolePolicyDocument"]

    def write(document: dict[str, Any]) -> None:
        iam.update_assume_role_policy(RoleName=it.reader, PolicyDocument=json.dumps(document))

    changed = json.loads(json.dumps(trust))
    changed["Statement"][0]["Condition"]["StringEquals"]["sts:ExternalId"] = "another"
    write(changed)
    return lambda: write(trust)


def forbid_reading(it: Broken) -> Mend:
    iam = it.p("iam")
    asked = {"RoleName": it.reader, "PolicyName": "schemas"}
    policy = json.dumps(iam.get_role_policy(**asked)["PolicyDocument"])
    iam.delete_role_policy(**asked)
    return lambda: iam.put_role_policy(PolicyDocument=policy, **asked)


def withdraw_login(it: Broken) -> Mend:
    kafka = it.p("kafka")
    asked = {
        "ClusterArn": it.contract["cluster"]["arn"],
        "SecretArnList": [it.contract["programs"]["functions"]["secret_arn"]],
    }
    kafka.batch_disassociate_scram_secret(**asked)
    return lambda: kafka.batch_associate_scram_secret(**asked)


# The code of the first cause, and the call that makes it. Neighbours have different codes.
BREAKS: list[tuple[str, Callable[[Broken], Mend]]] = [
    ("balancer-egress-missing", close_balancer),
    ("broker-ingress-missing", close_brokers),
    ("client-egress-missing", close_egress),
    ("dns-off", turn_off("EnableDnsHostnames")),
    ("endpoint-ingress-missing", close_ingress),
    ("endpoint-policy-changed", deny_at_endpoint),
    ("endpoint-not-accepted", reject_endpoint),
    ("function-stopped", stop_function),
    ("key-not-enabled", disable_key),
    ("lake-grant-missing", revoke_grant),
    ("lease-table-missing", name_other_lease),
    ("listener-missing", move_listener),
    ("login-not-associated", withdraw_login),
    ("mapping-off", disable_mapping),
    ("principal-missing", remove_principal),
    ("reader-role-distrusts", distrust_consumer),
    ("reader-role-forbidden", forbid_reading),
    ("record-wrong", misdirect_record),
    ("route-missing", remove_route),
    ("schedule-off", disable_schedule),
    ("secret-unusable", delete_secret),
    ("service-rule-missing", close_services),
    ("target-wrong", add_target),
    ("dns-off", turn_off("EnableDnsSupport")),
    ("function-stopped", stop_producer),
    ("key-not-enabled", disable_producers_key),
    ("record-wrong", delete_record),
    ("target-wrong", remove_target),
]
