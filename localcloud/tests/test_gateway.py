"""The one door, seen from outside: accounts apart, every call named."""

from __future__ import annotations

import base64
import json
import sys
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore import UNSIGNED, xform_name
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.core.responses import BaseResponse

from localcloud.door import call_log, moto_fallback
from localcloud.door.call_log import CallLog
from localcloud.door.operations import Call, HttpAnswer
from localcloud.identity.callers import Caller

_LOGGED = "888888888888"  # calls in this account are looked for in the log


def test_a_key_of_12_digits_is_that_account(client):
    one, other = (client("dynamodb", account=account * 12) for account in "89")
    one.create_table(
        TableName="mine",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    assert one.list_tables()["TableNames"] == ["mine"]
    assert other.list_tables()["TableNames"] == []


_JSON = ("UnknownOperationException", 400)
_QUERY = ("InvalidAction", 400)
_S3 = ("NotImplemented", 501)
_REST = ("UnknownOperationException", 404)


@pytest.mark.parametrize(
    ("call", "params", "error"),
    [
        ("glue.list_blueprints", {}, _JSON),
        ("kafka.list_replicators", {}, _REST),
        ("lambda.list_code_signing_configs", {}, _REST),
        ("ec2.accept_address_transfer", {"Address": "192.0.2.1"}, _QUERY),
        ("sts.decode_authorization_message", {"EncodedMessage": "x"}, _QUERY),
        ("sts.get_federation_token", {"Name": "x"}, _QUERY),
        # These two go unsigned, whatever keys the client has.
        ("sts.assume_role_with_saml", {"RoleArn": "r", "PrincipalArn": "p"}, _QUERY),
        ("sts.assume_role_with_web_identity", {"RoleArn": "r"}, _QUERY),
        ("route53.get_geo_location", {}, _REST),
        ("sqs.list_message_move_tasks", {"SourceArn": "arn:aws:sqs:eu-central-1:1:q"}, _JSON),
        ("s3.list_bucket_metrics_configurations", {"Bucket": "b"}, _S3),
        ("translate.list_languages", {}, _JSON),
        # moto would keep these, and nothing would happen.
        ("ec2.create_transit_gateway", {}, _QUERY),
        ("glue.start_job_run", {"JobName": "j"}, _JSON),
        ("s3.put_bucket_replication", {"Bucket": "b"}, _S3),
        ("ses.send_email", {"Source": "a@b"}, _QUERY),
        ("stepfunctions.start_execution", {"stateMachineArn": "arn"}, _JSON),
        ("cloudformation.list_stacks", {}, _QUERY),
    ],
)
def test_an_operation_that_nothing_answers_is_unknown(client, caplog, call, params, error):
    service, operation = call.split(".")
    made = client(service, config=Config(parameter_validation=False))
    name = made.meta.method_to_api_mapping[operation]
    with pytest.raises(ClientError) as refused:
        getattr(made, operation)(**params)
    answer = refused.value.response
    assert (answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]) == error
    said = (
        f"localcloud does not answer {service}:{name}; its page fidelity.md lists what it answers"
    )
    assert answer["Error"]["Message"] == said
    assert caplog.messages == [said]


def test_a_parameter_without_effect_is_logged(client, caplog):
    quotas = client("service-quotas")
    quotas.get_service_quota(ServiceCode="lambda", QuotaCode="L-B99A9384")
    assert caplog.messages == []

    quotas.get_service_quota(ServiceCode="lambda", QuotaCode="L-B99A9384", ContextId="c")

    assert caplog.messages == ["ContextId has no effect here in service-quotas:GetServiceQuota"]


def test_a_dry_run_does_nothing(client):
    ec2 = client("ec2")
    before = len(ec2.describe_vpcs()["Vpcs"])

    with pytest.raises(ClientError, match="Request would have succeeded") as refused:
        ec2.create_vpc(CidrBlock="10.3.0.0/16", DryRun=True)

    assert refused.value.response["Error"]["Code"] == "DryRunOperation"
    assert len(ec2.describe_vpcs()["Vpcs"]) == before


def test_an_inherited_method_is_not_an_operation():
    assert moto_fallback.knows("glue", "GetDatabase")
    assert hasattr(BaseResponse, "dispatch")
    assert not moto_fallback.knows("glue", "Dispatch")


def test_a_page_of_html_becomes_an_error_that_names_the_operation(client, monkeypatch):
    def page(_environ, start_response):
        start_response("404 NOT FOUND", [("Content-Type", "text/html")])
        return [b"<!doctype html>\n<title>404</title>"]

    monkeypatch.setattr(moto_fallback, "_moto", page)
    with pytest.raises(ClientError, match="localcloud does not answer sqs:ListQueues"):
        client("sqs").list_queues()


def test_an_operation_that_moto_does_not_implement_is_an_error(client, monkeypatch):
    def lacking(_environ, _start_response):
        raise NotImplementedError  # as moto does for an operation that it lacks

    monkeypatch.setattr(moto_fallback, "_moto", lacking)
    with pytest.raises(ClientError, match="localcloud does not answer sqs:ListQueues"):
        client("sqs").list_queues()


def test_a_bug_inside_is_answered_with_its_name(client, monkeypatch, caplog):
    def broken(_environ, _start_response):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(moto_fallback, "_moto", broken)
    once = client("sqs", config=Config(retries={"max_attempts": 0}))
    with pytest.raises(ClientError, match="sqs:ListQueues failed in localcloud: ZeroDiv") as failed:
        once.list_queues()
    assert failed.value.response["Error"]["Code"] == "InternalFailure"
    assert "sqs:ListQueues failed" in caplog.text


def test_a_request_that_no_operation_matches_is_named(cloud):
    scope = "Credential=111111111111/20260101/eu-central-1/{}/aws4_request"
    for service, path in (("kafka", "/v1/nothing"), ("nonsense", "/")):
        request = urllib.request.Request(cloud.endpoint + path, method="PATCH")
        request.add_header("Authorization", f"AWS4-HMAC-SHA256 {scope.format(service)}")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=60)
        with refused.value as answer:
            said = answer.read().decode()
        assert answer.code == 404
        assert f"localcloud does not answer {service}: PATCH {path}" in said
        logged = [call["status"] for call in _calls(cloud, f"PATCH {path}")]
        assert logged == [404]


@pytest.mark.parametrize(
    ("service", "operation"),
    [("dynamodb", "list_tables"), ("iam", "list_roles"), ("ec2", "describe_vpcs")],
)
def test_an_unsigned_request_is_rejected(client, service, operation):
    unsigned = client(service, config=Config(signature_version=UNSIGNED))
    with pytest.raises(ClientError, match="Request is missing Authentication Token") as refused:
        getattr(unsigned, operation)()
    assert refused.value.response["Error"]["Code"] == "MissingAuthenticationToken"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_an_object_that_is_public_needs_no_signature(client):
    s3, bucket = client("s3"), "public-objects"
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    s3.put_object(Bucket=bucket, Key="open", Body=b"to all", ACL="public-read")
    s3.put_object(Bucket=bucket, Key="closed", Body=b"to none")
    anybody = client("s3", config=Config(signature_version=UNSIGNED))
    assert anybody.get_object(Bucket=bucket, Key="open")["Body"].read() == b"to all"
    with pytest.raises(ClientError, match="403"):
        anybody.get_object(Bucket=bucket, Key="closed")


@pytest.mark.parametrize("body", [b"{nonsense", b'{"KeyId": "k", "Plaintext": 5}'])
def test_an_invalid_body_is_rejected(cloud, body):
    scope = "Credential=111111111111/20260101/eu-central-1/kms/aws4_request"
    request = urllib.request.Request(cloud.endpoint, data=body)
    request.add_header("Authorization", f"AWS4-HMAC-SHA256 {scope}")
    request.add_header("X-Amz-Target", "TrentService.Encrypt")
    request.add_header("Content-Type", "application/x-amz-json-1.1")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    with refused.value as answer:
        assert "SerializationException" in answer.read().decode()
    assert answer.code == 400


def _calls(cloud, operation):
    lines = (cloud.folder / "calls.jsonl").read_text().splitlines()
    return [call for call in map(json.loads, lines) if call["operation"] == operation]


def _last_call(cloud, operation):
    return [call for call in _calls(cloud, operation) if call["account"] == _LOGGED][-1]


def _leaks(cloud):
    """Return the forms of the secret that the log has."""
    log = (cloud.folder / "calls.jsonl").read_text()
    return [
        each for each in ("swordfish", base64.b64encode(b"swordfish" * 4).decode()) if each in log
    ]


def test_every_call_is_a_line(cloud, client):
    secrets = client("secretsmanager", account=_LOGGED)
    secrets.create_secret(Name="named", SecretString="swordfish", Description="x" * 600)
    with pytest.raises(ClientError):
        secrets.get_secret_value(SecretId="absent")

    call = _last_call(cloud, "CreateSecret")
    assert call["principal"] == f"arn:aws:iam::{_LOGGED}:root"
    assert (call["region"], call["service"]) == ("eu-central-1", "secretsmanager")
    assert (call["status"], call["error"], call["by"]) == (200, None, "moto")
    assert call["parameters"]["Name"] == "named"
    assert call["parameters"]["SecretString"] == "***"
    assert call["parameters"]["Description"] == "x" * 500 + "... (600 characters)"
    refused = _last_call(cloud, "GetSecretValue")
    assert (refused["status"], refused["error"]) == (404, "ResourceNotFoundException")


def test_the_log_has_no_secrets_of_calls_that_succeed(cloud, client):
    kms = client("kms", account=_LOGGED)
    kms.encrypt(KeyId=kms.create_key()["KeyMetadata"]["KeyId"], Plaintext=b"swordfish")
    ssm = client("ssm", account=_LOGGED)
    ssm.put_parameter(Name="p", Value="swordfish", Type="SecureString")

    assert _last_call(cloud, "Encrypt")["parameters"]["Plaintext"] == "***"
    assert _last_call(cloud, "PutParameter")["parameters"]["Value"] == "***"
    assert _leaks(cloud) == []


_TOPIC = f"arn:aws:sns:eu-central-1:{_LOGGED}:absent"
_ABSENT = {"FunctionName": "absent"}
_KEYED = {"Bucket": "absent", "Key": "k", "SSECustomerAlgorithm": "AES256"}


@pytest.mark.parametrize(
    ("called", "params", "shown"),
    [
        (
            "lambda:UpdateFunctionConfiguration",
            {**_ABSENT, "Environment": {"Variables": {"KEY": "swordfish"}}},
            {**_ABSENT, "Environment": {"Variables": {"KEY": "***"}}},
        ),
        (
            "s3:GetObject",
            {**_KEYED, "SSECustomerKey": "swordfish" * 4},
            {**_KEYED, "SSECustomerKey": "***"},
        ),
        (
            "sns:Publish",
            {"TopicArn": _TOPIC, "Message": "swordfish"},
            {"TopicArn": _TOPIC, "Message": "***"},
        ),
        (
            "dynamodb:PutItem",
            {"TableName": "absent", "Item": {"id": {"S": "swordfish"}}},
            {"TableName": "absent", "Item": "***"},
        ),
    ],
)
def test_the_log_has_no_secrets_of_calls_that_fail(cloud, client, called, params, shown):
    service, operation = called.split(":")
    made = client(service, account=_LOGGED)
    with pytest.raises(ClientError):
        getattr(made, xform_name(operation))(**params)

    assert shown.items() <= _last_call(cloud, operation)["parameters"].items()
    assert _leaks(cloud) == []


def test_a_long_log_is_rotated(tmp_path, monkeypatch, cloud):
    monkeypatch.setattr(call_log, "_MAX_BYTES", 400)
    log = CallLog(tmp_path / "calls.jsonl")
    caller = Caller("999999999999", "eu-central-1", "key", "arn")
    call = Call(cloud, caller, "s3", "GetObject", {}, lambda: HttpAnswer(200, (), b""))
    for _ in range(5):
        log.write(call, HttpAnswer(200, (), b""), seconds=0.0)
    log.close()
    log.write(call, None, seconds=0.0)  # a call that outlived the server
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["calls.1.jsonl", "calls.jsonl"]
    assert (tmp_path / "calls.jsonl").stat().st_size < 400


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_a_presigned_call_reaches_its_service(client):
    url = client("sts").generate_presigned_url("get_caller_identity")
    assert "<Account>111111111111</Account>" in _read(url)
    url = client("lambda").generate_presigned_url("list_functions")
    assert "Functions" in json.loads(_read(url))


def test_a_content_type_of_no_protocol_is_answered(cloud, client):
    url = client("lambda").generate_presigned_url("invoke", {"FunctionName": "absent"})
    asked = urllib.request.Request(
        url, b"a=b", {"Content-Type": "application/x-www-form-urlencoded"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(asked, timeout=60)
    with refused.value as answer:
        assert (answer.code, answer.headers["x-amzn-errortype"]) == (
            404,
            "UnknownOperationException",
        )
    assert _calls(cloud, "POST /2015-03-31/functions/absent/invocations")


def _read(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def test_one_of_concurrent_conditional_writes_succeeds(client):
    table = client("dynamodb", account="888888888888")
    table.create_table(
        TableName="contended",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )

    def put(number):
        try:
            table.put_item(
                TableName="contended",
                Item={"id": {"S": str(number // 6)}},
                ConditionExpression="attribute_not_exists(id)",
            )
        except ClientError as error:
            return error.response["Error"]["Code"]
        return number // 6

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            answers = Counter(pool.map(put, range(180)))
    finally:
        sys.setswitchinterval(usual)
    assert answers == Counter(
        {"ConditionalCheckFailedException": 150, **dict.fromkeys(range(30), 1)}
    )
