"""What exists in an account, so that a test can say what a destroy has left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

# Service, operation, the list in its answer, and what names an item.
_GONE = ("deleted", "TERMINATED")  # endpoints, clusters and applications are shown for a while
_LISTED = (
    ("athena", "list_work_groups", "WorkGroups", "Name"),
    ("cloudwatch", "describe_alarms", "MetricAlarms", "AlarmName"),
    ("dynamodb", "list_tables", "TableNames", None),
    ("ec2", "describe_flow_logs", "FlowLogs", "FlowLogId"),
    ("ec2", "describe_launch_templates", "LaunchTemplates", "LaunchTemplateName"),
    ("ec2", "describe_network_interfaces", "NetworkInterfaces", "Description"),
    ("ec2", "describe_vpc_endpoint_service_configurations", "ServiceConfigurations", "ServiceId"),
    ("ec2", "describe_vpc_endpoints", "VpcEndpoints", "ServiceName"),
    ("ec2", "describe_vpcs", "Vpcs", "VpcId"),
    ("elbv2", "describe_load_balancers", "LoadBalancers", "LoadBalancerName"),
    ("elbv2", "describe_target_groups", "TargetGroups", "TargetGroupName"),
    ("emr", "list_clusters", "Clusters", "Name"),
    ("emr-serverless", "list_applications", "applications", "name"),
    ("glue", "get_databases", "DatabaseList", "Name"),
    ("glue", "list_registries", "Registries", "RegistryName"),
    ("glue", "list_schemas", "Schemas", "SchemaName"),
    ("iam", "list_instance_profiles", "InstanceProfiles", "InstanceProfileName"),
    ("iam", "list_roles", "Roles", "RoleName"),
    ("kafka", "list_clusters_v2", "ClusterInfoList", "ClusterName"),
    ("kafka", "list_configurations", "Configurations", "Name"),
    ("kafka", "list_vpc_connections", "VpcConnections", "VpcConnectionArn"),
    ("kms", "list_aliases", "Aliases", "AliasName"),
    ("lakeformation", "list_resources", "ResourceInfoList", "ResourceArn"),
    ("lambda", "list_event_source_mappings", "EventSourceMappings", "UUID"),
    ("lambda", "list_functions", "Functions", "FunctionName"),
    ("logs", "describe_log_groups", "logGroups", "logGroupName"),
    ("route53", "list_hosted_zones", "HostedZones", "Name"),
    ("s3", "list_buckets", "Buckets", "Name"),
    ("secretsmanager", "list_secrets", "SecretList", "Name"),
    ("sns", "list_topics", "Topics", "TopicArn"),
    ("sqs", "list_queues", "QueueUrls", None),
    ("ssm", "describe_parameters", "Parameters", "Name"),
)


def list_everything(client: Callable[..., Any], account: str) -> set[str]:
    """Name all that there is in an account of what the roots could have made."""
    return set(_list(client, account))


def list_usable_keys(client: Callable[..., Any], account: str) -> list[str]:
    """List the keys of an account that nobody has given up; AWS's own ones are not counted."""
    kms = client("kms", account)
    return [
        key["KeyArn"]
        for key in kms.list_keys()["Keys"]
        if kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] != "PendingDeletion"
        and not any(
            alias["AliasName"].startswith("alias/aws/")
            for alias in kms.list_aliases(KeyId=key["KeyId"])["Aliases"]
        )
    ]


def _list(client: Callable[..., Any], account: str) -> Iterator[str]:
    for service, operation, answer, name in _LISTED:
        for item in getattr(client(service, account), operation)().get(answer, []):
            if not name:
                yield f"{service} {item}"
            elif not _is_gone_or_of_aws(item):
                yield f"{service} {item[name]}"


def _is_gone_or_of_aws(item: dict[str, Any]) -> bool:
    """Return True for an item that AWS still shows for a while, and a service-linked role."""
    status = item.get("Status")
    state = status["State"] if isinstance(status, dict) else item.get("State", item.get("state"))
    return state in _GONE or item.get("Path", "").startswith("/aws-service-role/")
