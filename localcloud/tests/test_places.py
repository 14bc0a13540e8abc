"""A command runs in the place of a function or an instance: its names, role and reach."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys

import boto3
import pytest

from localcloud.command.instance import note_instance
from localcloud.testing.policies import trust

_SHOW = """
import json, os
import boto3
try:
    boto3.client("sts").get_caller_identity()
except Exception as error:
    reached = str(error)
print(json.dumps({
    "keys": {name: os.environ[f"AWS_{name.upper()}"] for name in (
        "access_key_id", "secret_access_key", "session_token")},
    "reached": reached,
    "trusts": os.path.exists(os.environ["SSL_CERT_FILE"]),
    "java": "jdk.net.hosts.file" in os.environ["JAVA_TOOL_OPTIONS"],
    "own": os.environ.get("MINE"),
}))
"""


@pytest.fixture(scope="module")
def host(client):
    """An instance in a VPC with a role, by its name."""
    iam, ec2 = client("iam"), client("ec2")
    iam.create_role(
        RoleName="shell", AssumeRolePolicyDocument=trust({"Service": "ec2.amazonaws.com"})
    )
    iam.create_instance_profile(InstanceProfileName="shell")
    iam.add_role_to_instance_profile(InstanceProfileName="shell", RoleName="shell")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "a-shell"}]}]
    made = ec2.run_instances(
        ImageId="ami-12345678",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnet,
        IamInstanceProfile={"Name": "shell"},
        TagSpecifications=tags,
    )
    instance = made["Instances"][0]["InstanceId"]
    yield instance
    ec2.terminate_instances(InstanceIds=[instance])


@pytest.fixture
def run(cloud):
    """Run a program in a place, by the command."""
    note_instance(cloud.folder, cloud.endpoint)
    environ = os.environ | {"AWS_PROFILE": "outer", "MINE": "stays"}

    def run_it(*words):
        command = [sys.executable, "-m", "localcloud", "--folder", str(cloud.folder), "run"]
        return subprocess.run(
            [*command, *words],
            capture_output=True,
            text=True,
            check=False,
            env=environ,
            timeout=120,
        )

    return run_it


def test_a_program_has_the_role_the_reach_and_the_authorities_of_an_instance(cloud, host, run):
    for name in (host, "a-shell"):
        done = run("--as", name, "--", sys.executable, "-c", _SHOW)

        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        keys = {f"aws_{name}": value for name, value in found["keys"].items()}
        sts = boto3.client("sts", "eu-central-1", endpoint_url=cloud.endpoint, **keys)
        assert ":assumed-role/shell/" in sts.get_caller_identity()["Arn"]
        assert "has no endpoint for com.amazonaws.eu-central-1.sts" in found["reached"]
        assert found["trusts"] and found["java"]
        assert found["own"] == "stays"


def test_a_program_of_another_language_gets_the_names_in_a_namespace(host, run):
    done = run("--as", "a-shell", "--hosts", "--", "cat", "/etc/hosts")

    assert done.returncode == 0, done.stderr
    assert f"127.0.0.1 {socket.gethostname()}" in done.stdout
    with pathlib.Path("/etc/hosts").open() as file:
        assert file.read() != done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--as", "nobody", "--", "true"], "there is no function and no instance nobody"),
        (["--as", "a-shell", "--", "no-such-program"], "no-such-program cannot be run"),
        (["--as", "a-shell"], "found no program, expected one after --"),
    ],
)
def test_what_cannot_be_run_is_told(words, said, host, run):
    done = run(*words)

    assert done.returncode == 1
    assert said in done.stderr
