"""The question to EC2: does a launch template start the newest image by the name of a parameter?"""

from __future__ import annotations

from typing import Any, Final

from botocore.exceptions import ClientError

from tools.aws_check.findings import Finding, make_name

# The defaults of infra/modules/client-host.
_IMAGE: Final = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64"
_TYPE: Final = "t4g.small"


def ask_newest_image(session: Any) -> Finding:
    """Ask for an instance of a new launch template without starting one."""
    ec2, name = session.client("ec2"), make_name()
    ec2.create_launch_template(
        LaunchTemplateName=name, LaunchTemplateData={"ImageId": _IMAGE, "InstanceType": _TYPE}
    )
    try:
        ec2.run_instances(
            LaunchTemplate={"LaunchTemplateName": name}, MinCount=1, MaxCount=1, DryRun=True
        )
    except ClientError as error:
        code, said = error.response["Error"]["Code"], str(error)
    finally:
        ec2.delete_launch_template(LaunchTemplateName=name)
    lines = [f"{_TYPE} of {_IMAGE}: {said}"]
    if code in ("MissingInput", "VPCIdNotSpecified"):  # without a default VPC AWS asks for a subnet
        return Finding(None, lines)
    return Finding(code == "DryRunOperation", lines)
