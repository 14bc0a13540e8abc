"""Two VPCs of two accounts with a peering connection, made by the calls that Terraform makes."""

from __future__ import annotations

from localcloud.network import Source
from tests.account_ids import CONSUMER, PRODUCER
from tests.vpcs import make_vpc

_CIDR = "10.9.0.0/16"
_SUBNET = "10.9.1.0/24"
_RULE = {"IpProtocol": "tcp", "FromPort": 9094, "ToPort": 9098}


class PeeredVpcs:
    """A VPC of the consumer, peered with one of the producer; routes and rules can be removed.

    `home` is the producer's VPC, its subnets and the security group of its servers. The consumer
    asks for the connection, and the producer accepts it.
    """

    def __init__(self, client, home):
        self.ec2 = {account: client("ec2", account) for account in (PRODUCER, CONSUMER)}
        self.cidrs = {CONSUMER: _CIDR}
        self.vpcs, self.subnets, self.tables = {}, {}, {}
        self.vpcs[PRODUCER], self.subnets[PRODUCER], self.servers = home
        self.vpcs[CONSUMER] = make_vpc(self.ec2[CONSUMER], _CIDR)
        self.subnets[CONSUMER] = [
            self.ec2[CONSUMER].create_subnet(VpcId=self.vpcs[CONSUMER], CidrBlock=_SUBNET)[
                "Subnet"
            ]["SubnetId"]
        ]
        self.client = self.ec2[CONSUMER].create_security_group(
            GroupName="client", Description="client", VpcId=self.vpcs[CONSUMER]
        )["GroupId"]
        (vpc,) = self.ec2[PRODUCER].describe_vpcs(VpcIds=[self.vpcs[PRODUCER]])["Vpcs"]
        self.cidrs[PRODUCER] = vpc["CidrBlock"]
        self.connection = self.ask()["VpcPeeringConnectionId"]
        for account in (CONSUMER, PRODUCER):
            self.tables[account] = self._main_table(account)
            self.route(account)
        self.accept()
        self.let_in()

    @property
    def source(self):
        """A function in the consumer's VPC."""
        return Source(self.vpcs[CONSUMER], tuple(self.subnets[CONSUMER]), (self.client,))

    def ask(self):
        made = self.ec2[CONSUMER].create_vpc_peering_connection(
            VpcId=self.vpcs[CONSUMER], PeerVpcId=self.vpcs[PRODUCER], PeerOwnerId=PRODUCER
        )
        return made["VpcPeeringConnection"]

    def accept(self):
        self.ec2[PRODUCER].accept_vpc_peering_connection(VpcPeeringConnectionId=self.connection)

    def describe(self, account):
        found = self.ec2[account].describe_vpc_peering_connections(
            VpcPeeringConnectionIds=[self.connection]
        )
        return found["VpcPeeringConnections"][0]

    def delete(self, account):
        self.ec2[account].delete_vpc_peering_connection(VpcPeeringConnectionId=self.connection)

    def route(self, account):
        """Route the other VPC's addresses to the connection."""
        other = PRODUCER if account == CONSUMER else CONSUMER
        self.ec2[account].create_route(
            RouteTableId=self.tables[account],
            DestinationCidrBlock=self.cidrs[other],
            VpcPeeringConnectionId=self.connection,
        )

    def unroute(self, account):
        other = PRODUCER if account == CONSUMER else CONSUMER
        self.ec2[account].delete_route(
            RouteTableId=self.tables[account], DestinationCidrBlock=self.cidrs[other]
        )

    def let_in(self, cidr=None):
        """Let the consumer's addresses in to the servers."""
        self.ec2[PRODUCER].authorize_security_group_ingress(
            GroupId=self.servers, IpPermissions=[self._permission(cidr)]
        )

    def keep_out(self, cidr=None):
        self.ec2[PRODUCER].revoke_security_group_ingress(
            GroupId=self.servers, IpPermissions=[self._permission(cidr)]
        )

    def _permission(self, cidr):
        return _RULE | {"IpRanges": [{"CidrIp": cidr or self.cidrs[CONSUMER]}]}

    def _main_table(self, account):
        found = self.ec2[account].describe_route_tables(
            Filters=[{"Name": "vpc-id", "Values": [self.vpcs[account]]}]
        )
        return found["RouteTables"][0]["RouteTableId"]
