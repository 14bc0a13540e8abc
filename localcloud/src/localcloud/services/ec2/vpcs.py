"""VPCs are moto's; here is the quota of an account."""

from __future__ import annotations

from moto.ec2.models import ec2_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.quotas import VPCS, QuotaValues


@operation("ec2", "CreateVpc")
def create_vpc(call: Call) -> HttpAnswer:
    """Create a VPC if the region has fewer than the account's quota, the default one included."""
    count = len(ec2_backends[call.account][call.region].vpcs)
    if count >= call.cloud.state(QuotaValues).of(call.account, VPCS):
        raise AwsError("VpcLimitExceeded", "The maximum number of VPCs has been reached.")
    return call.forward()
