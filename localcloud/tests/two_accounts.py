"""PrivateLink between two accounts, made by the calls that Terraform makes; echo brokers in it."""

from __future__ import annotations

from localcloud.network import Node, Nodes, Source
from localcloud.network.loopback import LoopbackAddresses
from tests.account_ids import CONSUMER, PRODUCER
from tests.echo_brokers import Broker, start_echo
from tests.vpcs import make_vpc

PORT = 9096


class TwoAccounts:
    """Both VPCs, joined; each piece can be taken away by the same API.

    `home` is the producer's VPC, its subnets and real brokers, where those are there already.
    """

    def __init__(self, cloud, client, zone_name, brokers=2, home=None):
        self.nodes = cloud.state(Nodes)
        self.ec2 = {account: client("ec2", account) for account in (PRODUCER, CONSUMER)}
        self.elb = client("elbv2", PRODUCER)
        self.dns = client("route53", CONSUMER)
        self.zone_name = zone_name
        self.vpcs, self.subnets, self.groups = {}, {}, {}
        self._loopback = LoopbackAddresses()
        vpc, subnets, given = home or (*self._make_vpc(PRODUCER, "10.0"), [])
        self.vpcs[PRODUCER], self.subnets[PRODUCER] = vpc, subnets
        self.vpcs[CONSUMER], self.subnets[CONSUMER] = self._make_vpc(CONSUMER, "10.1")
        self._make_group(PRODUCER, "balancer")
        if given:
            self.groups["broker"] = self._group_of(given[0].interface)
        else:
            self._make_group(PRODUCER, "broker")
        for name in ("client", "endpoint"):
            self._make_group(CONSUMER, name)
        self.rules = {
            "balancer": {"CidrIp": "10.1.0.0/16"},
            "broker": {"GroupId": self.groups["balancer"]},
            "endpoint": {"GroupId": self.groups["client"]},
        }
        for name in self.rules:
            self.allow(name)
        self.zone = self._make_zone()
        self.brokers = given or [self._make_broker(it + 1) for it in range(brokers)]
        for number, broker in enumerate(self.brokers, start=1):
            self._expose(broker, number)

    @property
    def source(self):
        """A function in the consumer's VPC."""
        return Source(self.vpcs[CONSUMER], tuple(self.subnets[CONSUMER]), (self.groups["client"],))

    @property
    def source_at_home(self):
        """A function in the VPC of the brokers, in the group of the load balancers."""
        return Source(
            self.vpcs[PRODUCER], tuple(self.subnets[PRODUCER]), (self.groups["balancer"],)
        )

    def _make_vpc(self, account, network):
        ec2 = self.ec2[account]
        vpc = make_vpc(ec2, f"{network}.0.0/16")
        return vpc, [
            ec2.create_subnet(
                VpcId=vpc,
                CidrBlock=f"{network}.{number}.0/24",
                AvailabilityZone=f"eu-central-1{zone}",
            )["Subnet"]["SubnetId"]
            for number, zone in enumerate("ab")
        ]

    def _group_of(self, interface):
        found = self.ec2[PRODUCER].describe_network_interfaces(NetworkInterfaceIds=[interface])
        return found["NetworkInterfaces"][0]["Groups"][0]["GroupId"]

    def _make_group(self, account, name):
        made = self.ec2[account].create_security_group(
            GroupName=name, Description=name, VpcId=self.vpcs[account]
        )
        self.groups[name] = made["GroupId"]

    def _make_zone(self):
        made = self.dns.create_hosted_zone(
            Name=self.zone_name,
            CallerReference=self.zone_name,
            VPC={"VPCRegion": "eu-central-1", "VPCId": self.vpcs[CONSUMER]},
        )
        return made["HostedZone"]["Id"].removeprefix("/hostedzone/")

    def _make_broker(self, number):
        address = self._loopback.take()
        host = f"b-{number}.{self.zone_name}"
        broker = Broker(host, server=start_echo((address, PORT), host))
        self._make_interface(broker, number, address)
        return broker

    def _expose(self, broker, number):
        """Make what Terraform makes of a broker, in both accounts."""
        self._make_balancer(broker, number)
        self._make_service(broker)
        self.make_endpoint(broker)
        self.make_record(broker)

    def _make_interface(self, broker, number, address):
        made = self.ec2[PRODUCER].create_network_interface(
            SubnetId=self.subnets[PRODUCER][number % 2], Groups=[self.groups["broker"]]
        )["NetworkInterface"]
        broker.interface, broker.ip = made["NetworkInterfaceId"], made["PrivateIpAddress"]
        self.nodes.plug(Node(broker.host, broker.interface, address, frozenset({PORT})))

    def _make_balancer(self, broker, number):
        name = f"{self.zone_name.partition('.')[0]}-{number}"
        broker.balancer = self.elb.create_load_balancer(
            Name=name,
            Type="network",
            Scheme="internal",
            Subnets=self.subnets[PRODUCER],
            SecurityGroups=[self.groups["balancer"]],
        )["LoadBalancers"][0]["LoadBalancerArn"]
        broker.group = self.make_group_of_targets(broker, name, PORT)
        self.make_listener(broker)

    def make_group_of_targets(self, broker, name, port):
        group = self.elb.create_target_group(
            Name=name, Protocol="TCP", Port=port, TargetType="ip", VpcId=self.vpcs[PRODUCER]
        )["TargetGroups"][0]["TargetGroupArn"]
        self.elb.register_targets(TargetGroupArn=group, Targets=[{"Id": broker.ip}])
        return group

    def open_port(self, broker, port):
        """Expose one port more of a broker."""
        name = f"{broker.balancer.split('/')[-2]}-{port}"
        group = self.make_group_of_targets(broker, name, port)
        self._listen(broker, port, group)

    def make_listener(self, broker):
        broker.listener = self._listen(broker, PORT, broker.group)

    def _listen(self, broker, port, group):
        made = self.elb.create_listener(
            LoadBalancerArn=broker.balancer,
            Protocol="TCP",
            Port=port,
            DefaultActions=[{"Type": "forward", "TargetGroupArn": group}],
        )
        return made["Listeners"][0]["ListenerArn"]

    def _make_service(self, broker):
        made = self.ec2[PRODUCER].create_vpc_endpoint_service_configuration(
            NetworkLoadBalancerArns=[broker.balancer], AcceptanceRequired=True
        )["ServiceConfiguration"]
        broker.service, broker.service_name = made["ServiceId"], made["ServiceName"]
        self.let_consumer(broker)

    def let_consumer(self, broker, **change):
        change = change or {"AddAllowedPrincipals": [f"arn:aws:iam::{CONSUMER}:root"]}
        return self.ec2[PRODUCER].modify_vpc_endpoint_service_permissions(
            ServiceId=broker.service, **change
        )

    def make_endpoint(self, broker, accept=True):
        made = self.ec2[CONSUMER].create_vpc_endpoint(
            VpcEndpointType="Interface",
            VpcId=self.vpcs[CONSUMER],
            ServiceName=broker.service_name,
            SubnetIds=self.subnets[CONSUMER],
            SecurityGroupIds=[self.groups["endpoint"]],
        )["VpcEndpoint"]
        broker.endpoint = made["VpcEndpointId"]
        broker.alias = made["DnsEntries"][0]
        if accept:
            self.accept(broker)
        return made

    def accept(self, broker):
        return self.ec2[PRODUCER].accept_vpc_endpoint_connections(
            ServiceId=broker.service, VpcEndpointIds=[broker.endpoint]
        )

    def reject(self, broker):
        return self.ec2[PRODUCER].reject_vpc_endpoint_connections(
            ServiceId=broker.service, VpcEndpointIds=[broker.endpoint]
        )

    def make_record(self, broker, action="UPSERT"):
        record = {
            "Name": broker.host,
            "Type": "A",
            "AliasTarget": {
                "DNSName": broker.alias["DnsName"],
                "HostedZoneId": broker.alias["HostedZoneId"],
                "EvaluateTargetHealth": False,
            },
        }
        self.dns.change_resource_record_sets(
            HostedZoneId=self.zone,
            ChangeBatch={"Changes": [{"Action": action, "ResourceRecordSet": record}]},
        )

    def allow(self, name, revoke=False):
        """Add the rule that lets traffic into a group, or take it away."""
        ec2 = self.ec2[CONSUMER if name == "endpoint" else PRODUCER]
        peer = self.rules[name]
        key = "IpRanges" if "CidrIp" in peer else "UserIdGroupPairs"
        change = (
            ec2.revoke_security_group_ingress if revoke else ec2.authorize_security_group_ingress
        )
        permission = {"IpProtocol": "tcp", "FromPort": 9094, "ToPort": 9098, key: [peer]}
        change(GroupId=self.groups[name], IpPermissions=[permission])

    def allow_https(self):
        """Let the client into endpoints for services of AWS, which share the endpoint's group."""
        peer = {"GroupId": self.groups["client"]}
        self.ec2[CONSUMER].authorize_security_group_ingress(
            GroupId=self.groups["endpoint"],
            IpPermissions=[
                {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "UserIdGroupPairs": [peer]}
            ],
        )

    def allow_out(self, name, revoke=False):
        """Add the rule that lets everything out of a group, or take it away."""
        ec2 = self.ec2[CONSUMER if name == "client" else PRODUCER]
        change = ec2.revoke_security_group_egress if revoke else ec2.authorize_security_group_egress
        permission = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
        change(GroupId=self.groups[name], IpPermissions=[permission])

    def close(self):
        for broker in self.brokers:
            if broker.server is None:
                continue
            self.nodes.unplug(broker.interface)
            broker.server.shutdown()
            broker.server.server_close()
        self._loopback.close()
