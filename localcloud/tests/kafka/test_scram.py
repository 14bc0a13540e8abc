"""SCRAM users as secrets say: which are taken, what rotation does; no broker is started."""

from __future__ import annotations

import json

import pytest

from tests.refusals import refusal


def test_secrets_become_users(kafka, cluster, keep_secret):
    arn, users = cluster
    secrets = [keep_secret("anna", "a-1"), keep_secret("ben", "b-1")]
    answer = kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=secrets)
    assert answer["UnprocessedScramSecrets"] == []
    assert users == {"anna": "a-1", "ben": "b-1"}
    assert kafka.list_scram_secrets(ClusterArn=arn)["SecretArnList"] == secrets

    kafka.batch_disassociate_scram_secret(ClusterArn=arn, SecretArnList=secrets[:1])
    assert users["anna"] != "a-1"
    assert users["ben"] == "b-1"
    assert kafka.list_scram_secrets(ClusterArn=arn)["SecretArnList"] == secrets[1:]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "anna-of-nobody"}, "Secret names must have the prefix 'AmazonMSK_'."),
        ({"KmsKeyId": None}, "is encrypted with the default key of Secrets Manager"),
        ({"SecretString": None}, "wasn't able to access the provided secret"),
        ({"SecretString": "anna"}, "is not a JSON object with username and password"),
        ({"SecretString": '{"username": "anna"}'}, "is not a JSON object with username"),
        ({"SecretString": '["anna"]'}, "is not a JSON object with username and password"),
    ],
)
def test_secrets_that_msk_cannot_use(kafka, cluster, keep_secret, changes, message):
    arn, users = cluster
    secret = keep_secret("anna", "a-1", **changes)
    answer = kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    (refused,) = answer["UnprocessedScramSecrets"]
    assert (refused["SecretArn"], refused["ErrorCode"]) == (secret, "InvalidSecretArn")
    assert message in refused["ErrorMessage"]
    assert users == {}
    assert kafka.list_scram_secrets(ClusterArn=arn)["SecretArnList"] == []


def test_msk_cannot_use_a_secret_whose_key_is_disabled(client, kafka, cluster, keep_secret):
    arn, users = cluster
    key = client("kms").create_key()["KeyMetadata"]["Arn"]
    secret = keep_secret("anna", "a-1", KmsKeyId=key)
    client("kms").disable_key(KeyId=key.rpartition("/")[2])
    answer = kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    (refused,) = answer["UnprocessedScramSecrets"]
    assert f"able to access the provided secret: {key} is disabled" in refused["ErrorMessage"]
    assert users == {}


def test_an_invalid_secret_is_rejected(kafka, cluster):
    arn, _ = cluster
    unknown = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:AmazonMSK_none-AbCdEf"
    answer = kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[unknown, "x"])
    messages = [each["ErrorMessage"] for each in answer["UnprocessedScramSecrets"]]
    assert "can't find the specified secret" in messages[0]
    assert messages[1] == "The provided secret ARN is invalid."
    foreign = unknown.replace("111111111111", "222222222222")
    answer = kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[foreign])
    (refused,) = answer["UnprocessedScramSecrets"]
    assert "belongs to account 222222222222" in refused["ErrorMessage"]
    answer = kafka.batch_disassociate_scram_secret(ClusterArn=arn, SecretArnList=[unknown])
    assert answer["UnprocessedScramSecrets"][0]["ErrorMessage"] == (
        "The secret is not associated with the cluster"
    )


def test_invalid_calls_are_rejected(kafka, make_cluster, keep_secret):
    iam = {"Sasl": {"Iam": {"Enabled": True}}}
    arn = make_cluster(ClientAuthentication=iam)["ClusterArn"]
    secret = keep_secret("anna", "a")
    for call in (kafka.batch_associate_scram_secret, kafka.batch_disassociate_scram_secret):
        assert refusal(call, ClusterArn=arn, SecretArnList=[secret]) == (
            "BadRequestException",
            "The cluster does not have SASL/SCRAM authentication enabled",
        )
        code, _ = refusal(call, ClusterArn=arn + "0", SecretArnList=[secret])
        assert code == "NotFoundException"
    assert refusal(kafka.list_scram_secrets, ClusterArn=arn + "0")[0] == "NotFoundException"
    arn = make_cluster()["ClusterArn"]
    _, message = refusal(
        kafka.batch_associate_scram_secret, ClusterArn=arn, SecretArnList=[secret] * 11
    )
    assert message == "Specify 1 to 10 secrets per call, not 11"


def test_a_new_value_is_the_new_password(kafka, cluster, keep_secret, client):
    arn, users = cluster
    secret = keep_secret("anna", "a-1")
    kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    manager = client("secretsmanager")

    manager.put_secret_value(SecretId=secret, SecretString=_user("anna", "a-2"))
    assert users["anna"] == "a-2"
    manager.update_secret(SecretId=secret, SecretString=_user("anna", "a-3"))
    assert users["anna"] == "a-3"

    kafka.batch_disassociate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    locked = users["anna"]
    manager.put_secret_value(SecretId=secret, SecretString=_user("anna", "a-4"))
    assert users["anna"] == locked


def test_moving_the_label_back_brings_the_old_password_back(kafka, cluster, keep_secret, client):
    arn, users = cluster
    secret = keep_secret("anna", "a-1")
    kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    manager = client("secretsmanager")
    first = manager.get_secret_value(SecretId=secret)["VersionId"]
    second = manager.put_secret_value(SecretId=secret, SecretString=_user("anna", "a-2"))
    assert users["anna"] == "a-2"
    manager.update_secret_version_stage(
        SecretId=secret,
        VersionStage="AWSCURRENT",
        MoveToVersionId=first,
        RemoveFromVersionId=second["VersionId"],
    )
    assert users["anna"] == "a-1"


def test_rotation_by_a_function_is_refused_and_takes_no_value(keep_secret, client):
    secret, manager = keep_secret("anna", "a-1"), client("secretsmanager")
    # moto would make a current version without any value.
    assert refusal(manager.rotate_secret, SecretId=secret) == (
        "InvalidRequestException",
        "No Lambda rotation function ARN is associated with this secret.",
    )
    function = "arn:aws:lambda:eu-central-1:111111111111:function:rotate"
    code, message = refusal(manager.rotate_secret, SecretId=secret, RotationLambdaARN=function)
    assert code == "NotImplemented"
    assert message == (
        "localcloud does not run rotation functions; set the new value with PutSecretValue"
    )
    assert manager.get_secret_value(SecretId=secret)["SecretString"] == _user("anna", "a-1")


def test_a_pending_secret_version_is_not_the_password(kafka, cluster, keep_secret, client):
    arn, users = cluster
    secret = keep_secret("anna", "a-1")
    kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    client("secretsmanager").put_secret_value(
        SecretId=secret, SecretString=_user("anna", "a-2"), VersionStages=["AWSPENDING"]
    )
    assert users == {"anna": "a-1"}


def test_a_renamed_user_locks_the_old_one_out(kafka, cluster, keep_secret, client):
    arn, users = cluster
    secret = keep_secret("anna", "a-1")
    kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    client("secretsmanager").put_secret_value(SecretId=secret, SecretString=_user("berta", "b-1"))
    assert users["berta"] == "b-1"
    assert users["anna"] != "a-1"


def test_a_value_that_cannot_be_read_changes_nothing(kafka, cluster, keep_secret, client):
    arn, users = cluster
    secret = keep_secret("anna", "a-1")
    kafka.batch_associate_scram_secret(ClusterArn=arn, SecretArnList=[secret])
    client("secretsmanager").put_secret_value(SecretId=secret, SecretString="nonsense")
    assert users == {"anna": "a-1"}


def test_changes_of_an_unknown_secret_are_refused(client):
    manager = client("secretsmanager")
    for name, params in [
        ("put_secret_value", {"SecretString": "x"}),
        ("update_secret", {"SecretString": "x"}),
        ("update_secret_version_stage", {"VersionStage": "AWSCURRENT"}),
    ]:
        code, _ = refusal(getattr(manager, name), SecretId="none", **params)
        assert code == "ResourceNotFoundException", name


@pytest.fixture
def cluster(make_cluster, pretended):
    """A cluster's ARN, and the users that its brokers were told."""
    shown = make_cluster()
    return shown["ClusterArn"], pretended[shown["ClusterName"]].users


def _user(name, password):
    return json.dumps({"username": name, "password": password})
