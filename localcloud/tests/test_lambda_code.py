"""What code and configuration a function may have."""

from __future__ import annotations

import io
import stat
import sys
import zipfile
from contextlib import suppress
from functools import partial
from unittest.mock import patch

import pytest
from botocore.exceptions import ClientError

from localcloud.functions import zips
from localcloud.testing import ARCHITECTURE, ECHO, RUNTIME, deploy, invoke, make_zip
from localcloud.testing.policies import allow, allow_role, make_role, trust
from tests import refusals

_MACHINES = {"x86_64": b"\x3e\x00", "arm64": b"\xb7\x00"}
_OTHER = {"x86_64": "arm64", "arm64": "x86_64"}[ARCHITECTURE]


def shared_object(machine):
    """The first bytes of a shared object."""
    return b"\x7fELF" + bytes(14) + _MACHINES[machine]


def extension(version=sys.version_info.minor, machine=ARCHITECTURE):
    """A zip with an extension module for a Python 3.N and a machine."""
    name = f"fast/_codec.cpython-3{version}-x86_64-linux-gnu.so"
    return {"ZipFile": make_zip({"app.py": ECHO, name: shared_object(machine)})}


def refusal(client, **settings):
    """What CreateFunction answers, as code and message."""
    return refusals.refusal(partial(deploy, client), **settings)


def test_an_extension_for_this_python_and_machine_is_accepted(client):
    assert invoke(client, deploy(client, Code=extension()), 1) == (1, None)


def test_an_extension_for_another_python_is_refused(client):
    assert refusal(client, Code=extension(version=9)) == (
        "InvalidParameterValueException",
        "fast/_codec.cpython-39-x86_64-linux-gnu.so is built for Python 3.9, "
        f"but the function's runtime is {RUNTIME}",
    )


def test_an_extension_for_another_architecture_is_refused(client):
    code, message = refusal(client, Code=extension(machine=_OTHER))
    assert code == "InvalidParameterValueException"
    assert message.endswith(
        f".so is built for {_OTHER}, but the function's architecture is {ARCHITECTURE}"
    )


def test_an_extension_for_another_machine_than_this_is_refused(client):
    _, message = refusal(client, Code=extension(machine=_OTHER), Architectures=[_OTHER])
    assert message.endswith(f".so is built for {_OTHER}, but this machine is {ARCHITECTURE}")


def test_a_file_with_the_name_of_an_extension_is_not_one(client):
    files = {"app.py": ECHO, "lib/readme.so": b"not ELF"}
    assert invoke(client, deploy(client, Code={"ZipFile": make_zip(files)}), 2) == (2, None)


def test_an_invalid_zip_is_rejected(client):
    code, message = refusal(client, Code={"ZipFile": b"no zip at all"})
    assert code == "InvalidParameterValueException"
    assert message == "Could not unzip uploaded file: File is not a zip file"


def test_a_zip_that_unpacks_to_too_much_is_refused(client):
    with patch.object(zips, "_MAX_UNPACKED_BYTES", 10):
        assert refusal(client)[1] == "Unzipped size must be smaller than 10 bytes"


@pytest.mark.parametrize(("bucket", "what"), [("no-such-bucket", "Bucket"), ("code-there", "Key")])
def test_an_object_that_does_not_exist_is_refused(client, bucket, what):
    with suppress(client("s3").exceptions.BucketAlreadyOwnedByYou):
        client("s3").create_bucket(
            Bucket="code-there", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
        )
    code, message = refusal(client, Code={"S3Bucket": bucket, "S3Key": "f.zip"})
    assert code == "InvalidParameterValueException"
    assert message.startswith(f"Error occurred while GetObject. S3 Error Code: NoSuch{what}. ")


def test_code_that_cannot_run_is_refused_in_an_update_too(client):
    name = deploy(client)
    with pytest.raises(ClientError, match=r"is built for Python 3\.9"):
        client("lambda").update_function_code(FunctionName=name, **extension(version=9))
    assert invoke(client, name, 3) == (3, None)


def test_a_runtime_that_the_code_is_not_built_for_is_refused(client):
    name = deploy(client, Code=extension())
    with pytest.raises(ClientError, match=r"but the function's runtime is python3\.9"):
        client("lambda").update_function_configuration(FunctionName=name, Runtime="python3.9")


def test_a_role_that_does_not_trust_lambda_is_refused(client):
    role = make_role(client("iam"), trust({"Service": "ec2.amazonaws.com"}))
    with pytest.raises(ClientError, match="cannot be assumed by Lambda"):
        deploy(client, Role=role)
    lambda_, name = client("lambda"), deploy(client)
    with pytest.raises(ClientError, match="cannot be assumed by Lambda"):
        lambda_.update_function_configuration(FunctionName=name, Role=role)


def test_a_variable_that_is_lambdas_own_is_refused(client):
    code, message = refusal(client, Environment={"Variables": {"AWS_REGION": "x", "OK": "y"}})
    assert code == "InvalidParameterValueException"
    assert message.endswith("Reserved keys used in this request: AWS_REGION")


def test_a_runtime_that_is_not_python_does_not_run(client):
    name = deploy(client, Runtime="nodejs22.x")
    with pytest.raises(ClientError) as caught:
        invoke(client, name)
    assert "the runtime 'nodejs22.x' is not supported, expected python3.N" in str(caught.value)


def test_a_python_that_this_machine_lacks_is_named(client):
    name = deploy(client, Runtime="python3.99")
    with pytest.raises(ClientError) as caught:
        invoke(client, name)
    assert "the runtime python3.99 needs a Python 3.99 and none was found" in str(caught.value)


def zip_with_mode(mode, kind=stat.S_IFREG):
    """A zip whose second file has a mode."""
    buffer = io.BytesIO(make_zip({"app.py": ECHO}))
    with zipfile.ZipFile(buffer, "a") as archive:
        entry = zipfile.ZipInfo("run.sh")
        entry.external_attr = (kind | mode) << 16
        archive.writestr(entry, "#!/bin/sh\n")
    return {"ZipFile": buffer.getvalue()}


@pytest.mark.parametrize("mode", [0o000, 0o600, 0o750])
def test_a_file_that_lambdas_user_cannot_read_is_refused(client, mode):
    assert refusal(client, Code=zip_with_mode(mode)) == (
        "InvalidParameterValueException",
        f"run.sh has mode {mode:04o} in the zip, so Lambda's user cannot read it; give it 0644",
    )


def test_a_symbolic_link_is_refused(client):
    _, message = refusal(client, Code=zip_with_mode(0o777, stat.S_IFLNK))
    assert message == "run.sh is a symbolic link, which localcloud does not imitate"


def test_files_keep_their_modes(client):
    source = """
import os
def handler(event, context):
    return [oct(os.stat(name).st_mode & 0o777) for name in ("run.sh", "app.py")]
"""
    code = zip_with_mode(0o755)["ZipFile"]
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(code)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.infolist():
            new.writestr(entry, source if entry.filename == "app.py" else old.read(entry))
    name = deploy(client, Code={"ZipFile": buffer.getvalue()})
    assert invoke(client, name) == (["0o755", "0o644"], None)


def test_variables_of_more_than_4_kb_are_refused(client):
    fits = {"A": "x" * (4096 - len('{"A":""}'))}
    assert deploy(client, Environment={"Variables": fits})
    code, message = refusal(client, Environment={"Variables": {"A": fits["A"] + "x"}})
    assert code == "InvalidParameterValueException"
    assert "you have provided exceeded the 4KB limit. String measured: {" in message


def test_a_large_zip_has_to_come_from_s3(client, monkeypatch):
    monkeypatch.setattr("localcloud.services.lambda_.code._MAX_BODY_BYTES", 5000)
    code = make_zip({"app.py": ECHO, "data.py": "#" * 5000})
    assert refusal(client, Code={"ZipFile": code}) == (
        "RequestEntityTooLargeException",
        "Request must be smaller than 5000 bytes for the CreateFunction operation",
    )


def test_the_role_of_a_function_in_a_vpc_must_manage_interfaces(client):
    ec2, iam = client("ec2"), client("iam")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="g", Description="g", VpcId=vpc)["GroupId"]
    place = {"SubnetIds": [subnet], "SecurityGroupIds": [group]}
    role = make_role(iam, trust({"Service": "lambda.amazonaws.com"}))
    said = "The provided execution role does not have permissions to call"
    assert refusal(client, Role=role, VpcConfig=place) == (
        "InvalidParameterValueException",
        f"{said} CreateNetworkInterface on EC2",
    )
    allow_role(role, iam, allow("ec2:CreateNetworkInterface"))
    assert refusal(client, Role=role, VpcConfig=place)[1] == (
        f"{said} DescribeNetworkInterfaces on EC2"
    )
    name = deploy(client, Role=role)
    with pytest.raises(ClientError, match="permissions to call DescribeNetworkInterfaces on EC2"):
        client("lambda").update_function_configuration(FunctionName=name, VpcConfig=place)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"Layers": ["arn:aws:lambda:eu-central-1:1:layer:l:1"]}, "localcloud has no layers"),
        ({"LoggingConfig": {"LogFormat": "JSON"}}, "localcloud has no LogFormat of LoggingConfig"),
        ({"LoggingConfig": {"LogGroup": "/mine"}}, "localcloud has no LogGroup of LoggingConfig"),
    ],
    ids=["layers", "format", "group"],
)
def test_settings_that_would_do_nothing_are_refused(client, settings, said):
    code, message = refusal(client, **settings)
    assert code == "InvalidParameterValueException"
    assert said in message
    name = deploy(client)
    with pytest.raises(ClientError, match=said):
        client("lambda").update_function_configuration(FunctionName=name, **settings)


def test_a_policy_knows_calls_by_a_functions_code(client):
    iam, queues = client("iam"), client("sqs")
    queues.create_queue(QueueName="letters")
    code = """
import boto3
def handler(event, context):
    return boto3.client("sqs").get_queue_url(QueueName="letters")["QueueUrl"]
"""
    role = make_role(iam, trust({"Service": "lambda.amazonaws.com"}), allow("sqs:*"))
    name = deploy(client, code, Role=role, Timeout=20)
    assert invoke(client, name)[1] is None
    own = {"ArnEquals": {"lambda:SourceFunctionArn": f"arn:aws:lambda:*:*:function:{name}"}}
    denied = allow("sqs:GetQueueUrl", Condition=own) | {"Effect": "Deny"}

    allow_role(role, iam, allow("sqs:*"), denied)

    answer, failure = invoke(client, name)
    assert failure == "Unhandled"
    assert "with an explicit deny" in answer["errorMessage"]
