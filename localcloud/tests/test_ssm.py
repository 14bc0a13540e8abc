"""Parameter Store: values, versions, paths and pages, and who may read and decrypt them."""

from __future__ import annotations

import secrets

import pytest
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, keys_of, make_role, trust
from tests.account_ids import CONSUMER

_ARN = f"arn:aws:ssm:eu-central-1:{CONSUMER}:parameter"


@pytest.fixture
def ssm(client):
    return client("ssm", account=CONSUMER)


@pytest.fixture
def root():
    """A path that no other test uses."""
    return f"/{secrets.token_hex(4)}"


@pytest.fixture
def key(client):
    return client("kms", account=CONSUMER).create_key()["KeyMetadata"]["Arn"]


@pytest.fixture
def acting(client):
    """Make a client of Parameter Store that may do what the statements allow."""
    iam, sts = (client(name, account=CONSUMER) for name in ("iam", "sts"))
    role = make_role(iam, trust(CONSUMER))

    def act(*statements):
        allow_role(role, iam, *statements)
        given = sts.assume_role(RoleArn=role, RoleSessionName="run")["Credentials"]
        return client("ssm", **keys_of(given))

    return act


def _put(ssm, name, value="v", kind="String", **given):
    return ssm.put_parameter(Name=name, Value=value, Type=kind, **given)


def test_a_parameter_has_versions(ssm, root):
    assert _put(ssm, f"{root}/a")["Version"] == 1
    with pytest.raises(ssm.exceptions.ParameterAlreadyExists):
        _put(ssm, f"{root}/a")
    assert _put(ssm, f"{root}/a", "w", Overwrite=True)["Version"] == 2

    found = ssm.get_parameter(Name=f"{root}/a")["Parameter"]
    assert (found["Value"], found["Version"], found["ARN"]) == ("w", 2, f"{_ARN}{root}/a")
    assert ssm.get_parameter(Name=f"{root}/a:1")["Parameter"]["Value"] == "v"
    both = ssm.get_parameters(Names=[f"{root}/a", f"{root}/none"])
    assert [each["Value"] for each in both["Parameters"]] == ["w"]
    assert both["InvalidParameters"] == [f"{root}/none"]

    ssm.delete_parameter(Name=f"{root}/a")
    with pytest.raises(ssm.exceptions.ParameterNotFound):
        ssm.get_parameter(Name=f"{root}/a")
    assert ssm.delete_parameters(Names=[f"{root}/a"])["InvalidParameters"] == [f"{root}/a"]


def test_parameters_of_a_path_come_in_pages(ssm, root):
    for number in range(12):
        _put(ssm, f"{root}/{number:02}")
    _put(ssm, f"{root}/deep/er")

    def read(**given):
        pages = ssm.get_paginator("get_parameters_by_path").paginate(Path=root, **given)
        return [[each["Name"] for each in page["Parameters"]] for page in pages]

    assert [len(page) for page in read()] == [10, 2]
    assert [len(page) for page in read(Recursive=True)] == [10, 3]
    with pytest.raises(ssm.exceptions.InvalidNextToken):
        ssm.get_parameters_by_path(Path=root, NextToken="x")


_SENTENCES = [
    ({"Name": "a/b"}, "ValidationException", "must be a fully qualified name"),
    ({"Name": "/a b"}, "ValidationException", "a mix of letters, numbers and the following 3"),
    ({"Name": "/x" * 16}, "HierarchyLevelLimitExceededException", "maximum of 15 levels"),
    ({"Name": "/" + "x" * 1000}, "ValidationException", "at most 1011 characters"),
    ({"Name": "/ssm-a"}, "ValidationException", "can't be prefixed with"),
    ({"Value": "x" * 4097}, "ValidationException", "maximum parameter value of 4096"),
    ({"Policies": "[]"}, "ValidationException", "need the advanced-parameter tier"),
    ({"AllowedPattern": "^[0-9]+$"}, "ParameterPatternMismatchException", "allowedPattern"),
    ({"AllowedPattern": "("}, "InvalidAllowedPatternException", "missing"),
    ({"KeyId": "alias/aws/ssm"}, "ValidationException", "for SecureString type parameter only"),
    ({"KeyId": "none", "Type": "SecureString"}, "InvalidKeyId", "does not exist"),
    ({"Type": "Text"}, "ValidationException", "enum value set"),
]


@pytest.mark.parametrize(("given", "code", "says"), _SENTENCES)
def test_a_parameter_that_aws_refuses_is_refused(ssm, root, given, code, says):
    with pytest.raises(ClientError, match=says) as refused:
        ssm.put_parameter(**{"Name": f"{root}/p", "Value": "v", "Type": "String"} | given)

    assert refused.value.response["Error"]["Code"] == code


@pytest.mark.parametrize(
    ("operation", "given"),
    [("get_parameter", {"Name": "a/b"}), ("get_parameters_by_path", {"Path": "a"})],
)
def test_a_name_or_path_that_aws_refuses_cannot_be_read(ssm, operation, given):
    with pytest.raises(ClientError, match="ValidationException"):
        getattr(ssm, operation)(**given)


def test_the_type_of_a_parameter_cannot_change(ssm, root):
    _put(ssm, f"{root}/a")
    with pytest.raises(ssm.exceptions.HierarchyTypeMismatchException):
        _put(ssm, f"{root}/a", kind="SecureString", Overwrite=True)


def test_an_encrypted_value_is_read_with_decryption_only(client, ssm, root, key):
    _put(ssm, f"{root}/a", "secret", "SecureString", KeyId=key)
    assert "secret" not in ssm.get_parameter(Name=f"{root}/a")["Parameter"]["Value"]
    read = {"Name": f"{root}/a", "WithDecryption": True}
    assert ssm.get_parameter(**read)["Parameter"]["Value"] == "secret"
    (kept,) = ssm.get_parameter_history(**read)["Parameters"]
    assert (kept["Value"], kept["KeyId"]) == ("secret", key)

    client("kms", account=CONSUMER).disable_key(KeyId=key.rpartition("/")[2])
    with pytest.raises(ssm.exceptions.InvalidKeyId, match="is disabled"):
        ssm.get_parameter(**read)


def test_a_key_that_signs_does_not_encrypt(client, ssm, root):
    kms = client("kms", account=CONSUMER)
    signs = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="ECC_NIST_P256")["KeyMetadata"]["Arn"]
    with pytest.raises(ssm.exceptions.InvalidKeyId, match="key usage is SIGN_VERIFY"):
        _put(ssm, f"{root}/a", "s", "SecureString", KeyId=signs)


def test_decryption_needs_the_key_of_the_parameter(ssm, root, key, acting):
    for name in ("a", "b"):
        _put(ssm, f"{root}/{name}", "secret", "SecureString", KeyId=key)
    _put(ssm, f"{root}/own", "secret", "SecureString")  # with the key of AWS: free for the account
    read = allow("ssm:GetParameter*", f"{_ARN}{root}*")
    condition = {"StringEquals": {"kms:EncryptionContext:PARAMETER_ARN": f"{_ARN}{root}/a"}}
    reader = acting(read, allow("kms:Decrypt", key, Condition=condition))

    names = {"Names": [f"{root}/a", f"{root}/own"], "WithDecryption": True}
    assert {each["Value"] for each in reader.get_parameters(**names)["Parameters"]} == {"secret"}
    reader.get_parameters_by_path(Path=root)
    for call, given in (
        (reader.get_parameter, {"Name": f"{root}/b"}),
        (reader.get_parameters_by_path, {"Path": root}),
    ):
        with pytest.raises(ClientError, match="not authorized to perform: kms:Decrypt"):
            call(**given, WithDecryption=True)


def test_encryption_needs_the_key(root, key, acting):
    put = allow("ssm:PutParameter", f"{_ARN}{root}/*")
    with pytest.raises(ClientError, match="not authorized to perform: kms:Encrypt"):
        _put(acting(put), f"{root}/a", "s", "SecureString", KeyId=key)
    writer = acting(put, allow("kms:Encrypt", key))
    _put(writer, f"{root}/a", "s", "SecureString", KeyId=key)
    with pytest.raises(ClientError, match="not authorized to perform: kms:GenerateDataKey"):
        _put(writer, f"{root}/b", "s", "SecureString", KeyId=key, Tier="Advanced")
    with pytest.raises(ClientError, match="not authorized to perform: ssm:AddTagsToResource"):
        _put(writer, f"{root}/c", Tags=[{"Key": "k", "Value": "v"}])


def test_a_call_by_path_is_judged_by_the_path_and_not_by_what_it_finds(ssm, root, acting):
    _put(ssm, f"{root}/deep/secret")
    path = allow("ssm:GetParametersByPath", f"{_ARN}{root}")
    hidden = {"Effect": "Deny", "Action": "ssm:*", "Resource": f"{_ARN}{root}/deep/*"}
    reader = acting(path, hidden)

    (found,) = reader.get_parameters_by_path(Path=root, Recursive=True)["Parameters"]
    assert found["Name"] == f"{root}/deep/secret"
    with pytest.raises(ClientError, match="with an explicit deny"):
        reader.get_parameter(Name=f"{root}/deep/secret")
    below = acting(allow("ssm:GetParametersByPath", f"{_ARN}{root}/*"))
    with pytest.raises(ClientError, match="not authorized to perform: ssm:GetParametersByPath"):
        below.get_parameters_by_path(Path=root)


def test_a_parameter_that_stands_for_a_secret_needs_the_secrets_permission(client, root, acting):
    name = root.removeprefix("/")
    client("secretsmanager", account=CONSUMER).create_secret(Name=name, SecretString="pw")
    read = {"Name": f"/aws/reference/secretsmanager/{name}", "WithDecryption": True}
    with pytest.raises(ClientError, match="to perform: secretsmanager:GetSecretValue"):
        acting(allow("ssm:GetParameter")).get_parameter(**read)
    reader = acting(allow(["ssm:GetParameter", "secretsmanager:GetSecretValue"]))
    assert reader.get_parameter(**read)["Parameter"]["Value"] == "pw"
