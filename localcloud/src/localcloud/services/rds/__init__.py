"""RDS for PostgreSQL: each instance is a real PostgreSQL; its description is moto's."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.service import ErrorCode, LinkedRole, Moto, Service
from localcloud.identity.access import by_parameter

SERVICE = Service(
    "rds",
    endpoint="rds",
    throttle=ErrorCode("Throttling", 400),
    resources=by_parameter(
        ("DBInstanceIdentifier", "db:{}"),
        ("DBParameterGroupName", "pg:{}"),
        ("DBSubnetGroupName", "subgrp:{}"),
        ("ResourceName", "{}"),
    ),
    operations=("instances", "lifecycle", "parameter_groups", "subnet_groups"),
    linked_roles={"CreateDBInstance": LinkedRole("rds.amazonaws.com", "AWSServiceRoleForRDS")},
    keys={"CreateDBInstance": ("KmsKeyId",)},
    key_error=lambda flaw: AwsError("KMSKeyNotAccessibleFault", flaw.says, status=400),
    contents={
        "CreateDBInstance": ("MasterUserPassword",),
        "ModifyDBInstance": ("MasterUserPassword",),
    },
    changes_network=True,
    status=("databases",),
    moto=Moto(keeps="AddTagsToResource CreateDBParameterGroup CreateDBSubnetGroup"),
    ignored={
        "CreateDBInstance": (
            "AdditionalStorageVolumes BackupTarget CustomIamInstanceProfile "
            "DBCapacityReservationIdentifier DBSystemId DatabaseInsightsMode DedicatedLogVolume "
            "EnableCustomerOwnedIp EnablePerformanceInsights EngineLifecycleSupport "
            "MasterUserAuthenticationType MultiTenant NcharCharacterSetName "
            "PerformanceInsightsKMSKeyId PerformanceInsightsRetentionPeriod ProcessorFeatures "
            "TagSpecifications TdeCredentialArn TdeCredentialPassword Timezone"
        ),
        "DescribeDBParameters": "Filters",
        "ModifyDBInstance": (
            "AdditionalStorageVolumes AllowMajorVersionUpgrade AutomationMode "
            "AwsBackupRecoveryPointArn CertificateRotationRestart "
            "DBCapacityReservationIdentifier DBPortNumber DatabaseInsightsMode "
            "DedicatedLogVolume DisableDomain EnableCustomerOwnedIp EnablePerformanceInsights "
            "EngineLifecycleSupport MasterUserAuthenticationType MultiTenant "
            "PerformanceInsightsKMSKeyId PerformanceInsightsRetentionPeriod ProcessorFeatures "
            "ReplicaMode ResumeFullAutomationModeMinutes TagSpecifications TdeCredentialArn "
            "TdeCredentialPassword UseDefaultProcessorFeatures"
        ),
        "RebootDBInstance": "ForceFailover",
    },
)
