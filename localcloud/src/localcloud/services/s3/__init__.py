"""S3 is moto's, except for notifications that it may not deliver."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.service import ErrorCode, Moto, Policies, Service
from localcloud.services.s3.iam_resources import list_resources

SERVICE = Service(
    "s3",
    endpoint="s3",
    throttle=ErrorCode("SlowDown", 503),
    key_error=lambda flaw: AwsError(f"KMS.{flaw.exception}", flaw.says, status=400),
    resources=list_resources,
    operations=("notifications",),
    policies=Policies(
        "MalformedPolicy", "Invalid principal in policy", {"PutBucketPolicy": ("Policy",)}
    ),
    signing_names=("s3", "s3express"),
    one_at_a_time=True,
    moto=Moto(
        keeps=(
            "AbortMultipartUpload CompleteMultipartUpload CopyObject CreateBucket "
            "CreateMultipartUpload PostObject PutBucketEncryption PutBucketOwnershipControls "
            "PutBucketPolicy PutBucketTagging PutBucketVersioning PutObject PutObjectLegalHold "
            "PutObjectLockConfiguration PutObjectRetention PutObjectTagging PutPublicAccessBlock "
            "UploadPart UploadPartCopy"
        ),
        ignores=(
            "PutBucketAccelerateConfiguration PutBucketAcl PutBucketCors "
            "PutBucketInventoryConfiguration PutBucketLifecycle PutBucketLifecycleConfiguration "
            "PutBucketLogging PutObjectAcl"
        ),
    ),
    ignored={
        "PutBucketNotificationConfiguration": "SkipDestinationValidation",
    },
)
