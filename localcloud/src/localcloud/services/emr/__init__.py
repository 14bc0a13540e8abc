"""Amazon EMR on EC2: clusters whose steps run here."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, LinkedRole, Moto, Service
from localcloud.services.emr.iam_resources import list_resources, list_roles

SERVICE = Service(
    "emr",
    endpoint="elasticmapreduce",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    operations=("clusters", "policies", "steps"),
    signing_names=("elasticmapreduce",),
    prefix="elasticmapreduce",
    passed_roles=list_roles,
    linked_roles={
        "RunJobFlow": LinkedRole("elasticmapreduce.amazonaws.com", "AWSServiceRoleForEMRCleanup")
    },
    status=("clusters of EMR",),
    moto=Moto(
        ignores="CreateSecurityConfiguration PutBlockPublicAccessConfiguration",
    ),
    ignored={
        "ListInstances": "InstanceFleetId InstanceFleetType",
        "ModifyCluster": "ExtendedSupport",
        "RunJobFlow": (
            "AdditionalInfo EbsRootVolumeIops EbsRootVolumeThroughput ExtendedSupport "
            "MonitoringConfiguration NewSupportedProducts OSReleaseLabel "
            "PlacementGroupConfigs RepoUpgradeOnBoot SessionEnabled"
        ),
    },
)
