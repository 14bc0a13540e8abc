"""Facts that moto holds for authorization: full ARNs, resource policies, the keys they use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, TypeGuard

from moto.dynamodb.models import dynamodb_backends
from moto.kms.models import kms_backends
from moto.s3.models import s3_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from localcloud.identity.policies import Statement, read_statements

# The action, the key's ARN, and the context for conditions: what the key is used for.
KeyUse: TypeAlias = tuple[str, str, dict[str, str]]

_ENCRYPTION = "kms:EncryptionContext"
_MANAGED = "alias/aws/"  # the start of the aliases of AWS's own keys
_ALLOW_KEY = {"Effect": "Allow", "Action": "kms:*", "Resource": "*"}
_USES_OBJECT = {"s3:PutObject": "kms:GenerateDataKey", "s3:GetObject": "kms:Decrypt"}
# DynamoDB decrypts the table's data key for whoever reads or writes: DynamoDB Developer Guide,
# "DynamoDB encryption at rest: usage notes".
_USES_TABLE = ("kms:Decrypt",)
# SQS Developer Guide, "Configure KMS permissions for Amazon SQS"; SNS Developer Guide, "Managing
# Amazon SNS encryption keys".
_USES_QUEUE = {
    "sqs:SendMessage": ("kms:GenerateDataKey", "kms:Decrypt"),
    "sqs:ReceiveMessage": ("kms:Decrypt",),
}
_USES_TOPIC = {"sns:Publish": ("kms:GenerateDataKey", "kms:Decrypt")}
# Secrets Manager API Reference, each operation.
_USES_SECRET = {
    "GetSecretValue": ("kms:Decrypt",),
    "PutSecretValue": ("kms:GenerateDataKey",),
    "CreateSecret": ("kms:GenerateDataKey", "kms:Decrypt"),
    "UpdateSecret": ("kms:GenerateDataKey", "kms:Encrypt", "kms:Decrypt"),
}


def owner_of(resource: str | None, default: str) -> str:
    """Return the account that owns a resource."""
    if not _is_arn(resource):
        return default
    if resource.startswith("arn:aws:s3:::"):
        bucket = resource.removeprefix("arn:aws:s3:::").partition("/")[0]
        return str(s3_backends.bucket_accounts.get(bucket, ("aws", default))[1])
    if resource.startswith("arn:aws:kafka:"):  # services/kafka/access.py asks the cluster's policy
        return default
    return resource.split(":")[4] or default


def policy_of(resource: str | None) -> list[Statement] | None:
    """Return the statements of a resource's policy, None for a kind without policies here."""
    if not _is_arn(resource):
        return None
    service, region, account, end = resource.split(":", 5)[2:]
    finder = _POLICIES.get(service)
    return read_statements(finder(account, region, end)) if finder else None


def secret_arn(account: str, region: str, secret_id: str) -> str:
    """Return the full ARN of a secret; one that does not exist has a suffix of wildcards."""
    if secret_id.startswith("arn:"):
        account, region = secret_id.split(":")[4], secret_id.split(":")[3]
    secret = secretsmanager_backends[account][region].secrets.get(secret_id)
    if secret is not None:
        return str(secret.arn)
    if secret_id.startswith("arn:"):
        return secret_id
    return f"arn:aws:secretsmanager:{region}:{account}:secret:{secret_id}-??????"


def key_arn(account: str, region: str, key_id: str) -> str:
    """Return the ARN of a key, given as id, ARN, alias or ARN of an alias."""
    if key_id.startswith("arn:"):
        region, account, end = key_id.split(":", 5)[3:]
        if end.startswith("key/"):
            return key_id
        key_id = end
    if key_id.startswith("alias/"):
        key_id = kms_backends[account][region].get_key_id_from_alias(key_id) or key_id
    return f"arn:aws:kms:{region}:{account}:key/{key_id}"


def find_bucket(name: str) -> tuple[str, Any]:
    """Return the account that owns a bucket, and the bucket; None if it does not exist."""
    account = s3_backends.bucket_accounts.get(name, ("aws", ""))[1]
    return account, s3_backends[account]["aws"].buckets.get(name) if account else None


def key_use_of_secret(arn: str, operation: str, given: str | None = None) -> Iterator[KeyUse]:
    """Yield the use of a key by a call on a secret: its key, a given one, or that of AWS."""
    region, account = arn.split(":")[3:5]
    secret = secretsmanager_backends[account][region].secrets.get(arn)
    key_id = given or getattr(secret, "kms_key_id", None) or f"{_MANAGED}secretsmanager"
    yield from key_uses(
        _USES_SECRET.get(operation, ()), account, region, key_id, {"SecretARN": arn}
    )


def key_use_of_object(params: dict[str, Any], action: str) -> Iterator[KeyUse]:
    """Yield the use of a key by reading or writing an object."""
    account, bucket = find_bucket(params["Bucket"])
    if bucket is None or action not in _USES_OBJECT:
        return
    read = action == "s3:GetObject"
    key_id = _key_to_read(bucket, params) if read else _key_to_write(bucket, params)
    end = "" if _has_bucket_key(bucket) else f"/{params['Key']}"
    use = {"aws:s3:arn": f"arn:aws:s3:::{params['Bucket']}{end}"}
    yield from key_uses((_USES_OBJECT[action],), account, bucket.region_name, key_id, use)


def key_use_of_table(arn: str) -> Iterator[KeyUse]:
    """Yield the use of a key by reading or writing items of a table."""
    region, account, end = arn.split(":", 5)[3:]
    table = dynamodb_backends[account][region].tables.get(end.split("/")[1])
    sse = (getattr(table, "sse_specification", None) or {}) if table else {}
    context = {"aws:dynamodb:tableName": end.split("/")[1], "aws:dynamodb:subscriberId": account}
    yield from key_uses(_USES_TABLE, account, region, sse.get("KMSMasterKeyId"), context)


def key_use_of_queue(arn: str, action: str) -> Iterator[KeyUse]:
    """Yield the use of a key by sending or receiving messages of a queue."""
    region, account, name = arn.split(":", 5)[3:]
    queue = sqs_backends[account][region].queues.get(name)
    key_id = getattr(queue, "kms_master_key_id", None)
    context = {"aws:sqs:arn": arn}
    yield from key_uses(_USES_QUEUE.get(action, ()), account, region, key_id, context)


def key_use_of_topic(arn: str, action: str) -> Iterator[KeyUse]:
    """Yield the use of a key by publishing to a topic."""
    region, account = arn.split(":")[3:5]
    key_id = getattr(sns_backends[account][region].topics.get(arn), "kms_master_key_id", None)
    context = {"aws:sns:topicArn": arn}
    yield from key_uses(_USES_TOPIC.get(action, ()), account, region, key_id, context)


def key_uses(
    actions: tuple[str, ...], account: str, region: str, key_id: str | None, use: dict[str, str]
) -> Iterator[KeyUse]:
    """Yield the actions on a key; one of AWS's own has its alias for an ARN."""
    if not key_id:
        return
    key = key_id if key_id.startswith("arn:") else f"arn:aws:kms:{region}:{account}:{key_id}"
    if _MANAGED not in key_id:
        key = key_arn(account, region, key_id)
    context = {f"{_ENCRYPTION}:{name}": value for name, value in use.items()}
    yield from ((action, key, context) for action in actions)


def _is_arn(resource: str | None) -> TypeGuard[str]:
    return resource is not None and resource.count(":") >= 5


def _key_to_read(bucket: Any, params: dict[str, Any]) -> str | None:
    """Return the key of an object, as it was encrypted when it was written."""
    stored = bucket.keys.get(params["Key"])
    return _key_of_s3(getattr(stored, "encryption", None), getattr(stored, "kms_key_id", None))


def _key_to_write(bucket: Any, params: dict[str, Any]) -> str | None:
    default = _encryption_rule(bucket).get("ApplyServerSideEncryptionByDefault", {})
    key_id = params.get("SSEKMSKeyId") or default.get("KMSMasterKeyID")
    return _key_of_s3(params.get("ServerSideEncryption") or default.get("SSEAlgorithm"), key_id)


def _key_of_s3(algorithm: str | None, key_id: str | None) -> str | None:
    return (key_id or f"{_MANAGED}s3") if str(algorithm).startswith("aws:kms") else None


def _has_bucket_key(bucket: Any) -> bool:
    return str(_encryption_rule(bucket).get("BucketKeyEnabled")).lower() == "true"


def _encryption_rule(bucket: Any) -> dict[str, Any]:
    rule: Any = (bucket.encryption or {}).get("Rule", {})
    found: dict[str, Any] = rule[0] if isinstance(rule, list) else rule
    return found


def _bucket_policy(_account: str, _region: str, end: str) -> Any:
    _, bucket = find_bucket(end.partition("/")[0])
    return bucket.policy if bucket is not None else None


def _secret_policy(account: str, region: str, end: str) -> Any:
    arn = f"arn:aws:secretsmanager:{region}:{account}:{end}"
    return getattr(secretsmanager_backends[account][region].secrets.get(arn), "policy", None)


def _key_policy(account: str, region: str, end: str) -> Any:
    """Return the policy of a key; one of AWS's own lets its account in, by its service.

    KMS Developer Guide, "AWS managed keys". The service that calls is the key's anyway.
    """
    if end.startswith(_MANAGED):
        condition = {"StringEquals": {"kms:CallerAccount": account}}
        everybody = {"AWS": "*"}  # no service, when it calls for itself
        return {"Statement": {**_ALLOW_KEY, "Principal": everybody, "Condition": condition}}
    key = kms_backends[account][region].keys.get(end.removeprefix("key/"))
    return key.policy if key else None


def _queue_policy(account: str, region: str, end: str) -> Any:
    return getattr(sqs_backends[account][region].queues.get(end), "policy", None)


def _topic_policy(account: str, region: str, end: str) -> Any:
    topics = sns_backends[account][region].topics
    return getattr(topics.get(f"arn:aws:sns:{region}:{account}:{end}"), "policy", None)


_POLICIES = {
    "kms": _key_policy,
    "s3": _bucket_policy,
    "secretsmanager": _secret_policy,
    "sns": _topic_policy,
    "sqs": _queue_policy,
}
