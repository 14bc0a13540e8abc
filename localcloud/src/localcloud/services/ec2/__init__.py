"""EC2 where moto differs from AWS: endpoint services, endpoints, groups, instances, VPCs."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.access import role_in
from localcloud.services.ec2.iam_resources import list_resources


def refuse_dry_run(call: Call) -> None:
    """Answer as EC2 does when a call is allowed and must not be carried out."""
    if call.params.get("DryRun"):
        said = "Request would have succeeded, but DryRun flag is set."
        raise AwsError("DryRunOperation", said, status=412)


SERVICE = Service(
    "ec2",
    endpoint="ec2",
    throttle=ErrorCode("RequestLimitExceeded", 503),
    resources=list_resources,
    operations=(
        "aws_services",
        "connection_notifications",
        "dependents",
        "endpoint_services",
        "endpoints",
        "instances",
        "peering_connections",
        "security_groups",
        "subnets",
        "vpcs",
    ),
    passed_roles=role_in(
        ("DeliverLogsPermissionArn",), "vpc-flow-logs.amazonaws.com", "CreateFlowLogs"
    ),
    changes_network=True,
    one_at_a_time=True,
    check=refuse_dry_run,
    moto=Moto(
        keeps=(
            "AcceptVpcPeeringConnection AssociateIamInstanceProfile AssociateRouteTable "
            "AssociateSubnetCidrBlock AssociateVpcCidrBlock AttachNetworkInterface AttachVolume "
            "AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress CreateDefaultSubnet "
            "CreateDefaultVpc CreateKeyPair CreateLaunchTemplateVersion CreateManagedPrefixList "
            "CreateNetworkInterface CreateRoute CreateRouteTable CreateTags CreateVolume "
            "CreateVpcEndpointServiceConfiguration ImportKeyPair ModifyInstanceAttribute "
            "ModifyInstanceMetadataOptions ModifyLaunchTemplate ModifyManagedPrefixList "
            "ModifyNetworkInterfaceAttribute ModifySecurityGroupRules ModifySubnetAttribute "
            "ModifyVolume ModifyVpcAttribute ModifyVpcEndpoint "
            "ModifyVpcEndpointServiceConfiguration RebootInstances RejectVpcPeeringConnection "
            "ReplaceIamInstanceProfileAssociation ReplaceRoute ReplaceRouteTableAssociation "
            "RevokeSecurityGroupEgress RevokeSecurityGroupIngress StartInstances StopInstances "
            "TerminateInstances UpdateSecurityGroupRuleDescriptionsEgress "
            "UpdateSecurityGroupRuleDescriptionsIngress"
        ),
        ignores=(
            "AllocateAddress AssociateAddress AssociateDhcpOptions AttachInternetGateway "
            "CreateDhcpOptions CreateFlowLogs CreateInternetGateway CreateNatGateway "
            "CreateNetworkAcl CreateNetworkAclEntry EnableEbsEncryptionByDefault MonitorInstances "
            "ReleaseAddress ReplaceNetworkAclAssociation ReplaceNetworkAclEntry"
        ),
    ),
    ignored={
        "AcceptVpcEndpointConnections": "TransitGatewayAttachmentIds",
        "CreateSubnet": "Ipv4NetmaskLength Ipv6NetmaskLength OutpostArn",
        "CreateVpc": "Ipv4NetmaskLength Ipv6NetmaskLength VpcEncryptionControl",
        "CreateVpcEndpoint": (
            "DnsOptions IpAddressType ResourceConfigurationArn ServiceNetworkArn "
            "ServiceRegion SubnetConfigurations"
        ),
        "DescribeVpcEndpointConnectionNotifications": "MaxResults NextToken",
        "DescribeVpcEndpointConnections": "MaxResults NextToken",
        "DescribeVpcEndpointServicePermissions": "MaxResults NextToken",
        "DescribeVpcEndpointServices": "ServiceRegions",
        "DescribeVpcPeeringConnections": "Filters MaxResults NextToken",
        "ModifyVpcEndpointServicePermissions": "PermissionType",
        "RejectVpcEndpointConnections": "TransitGatewayAttachmentIds",
        "RunInstances": (
            "AdditionalInfo CpuOptions ElasticGpuSpecification ElasticInferenceAccelerators "
            "EnablePrimaryIpv6 LicenseSpecifications MaxCount NetworkPerformanceOptions "
            "SecondaryInterfaces"
        ),
    },
)
