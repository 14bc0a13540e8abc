"""The names that IAM has for operations of S3, as in the Service Authorization Reference."""

from __future__ import annotations

BUCKET_ACTIONS = {
    "DeleteBucketCors": "s3:PutBucketCORS",
    "DeleteBucketEncryption": "s3:PutEncryptionConfiguration",
    "DeleteBucketLifecycle": "s3:PutLifecycleConfiguration",
    "DeleteBucketOwnershipControls": "s3:PutBucketOwnershipControls",
    "DeleteBucketReplication": "s3:PutReplicationConfiguration",
    "DeleteBucketTagging": "s3:PutBucketTagging",
    "DeletePublicAccessBlock": "s3:PutBucketPublicAccessBlock",
    "GetBucketAccelerateConfiguration": "s3:GetAccelerateConfiguration",
    "GetBucketCors": "s3:GetBucketCORS",
    "GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "GetBucketInventoryConfiguration": "s3:GetInventoryConfiguration",
    "GetBucketLifecycle": "s3:GetLifecycleConfiguration",
    "GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration",
    "GetBucketNotificationConfiguration": "s3:GetBucketNotification",
    "GetBucketReplication": "s3:GetReplicationConfiguration",
    "GetObjectLockConfiguration": "s3:GetBucketObjectLockConfiguration",
    "GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock",
    "HeadBucket": "s3:ListBucket",
    "ListBucketInventoryConfigurations": "s3:GetInventoryConfiguration",
    "ListBuckets": "s3:ListAllMyBuckets",
    "ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "ListObjectVersions": "s3:ListBucketVersions",
    "ListObjects": "s3:ListBucket",
    "ListObjectsV2": "s3:ListBucket",
    "PutBucketAccelerateConfiguration": "s3:PutAccelerateConfiguration",
    "PutBucketCors": "s3:PutBucketCORS",
    "PutBucketEncryption": "s3:PutEncryptionConfiguration",
    "PutBucketInventoryConfiguration": "s3:PutInventoryConfiguration",
    "PutBucketLifecycle": "s3:PutLifecycleConfiguration",
    "PutBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration",
    "PutBucketNotificationConfiguration": "s3:PutBucketNotification",
    "PutBucketReplication": "s3:PutReplicationConfiguration",
    "PutObjectLockConfiguration": "s3:PutBucketObjectLockConfiguration",
    "PutPublicAccessBlock": "s3:PutBucketPublicAccessBlock",
}
OBJECT_ACTIONS = {
    "HeadObject": "s3:GetObject",
    "SelectObjectContent": "s3:GetObject",
    "CopyObject": "s3:PutObject",
    "CreateMultipartUpload": "s3:PutObject",
    "UploadPart": "s3:PutObject",
    "UploadPartCopy": "s3:PutObject",
    "CompleteMultipartUpload": "s3:PutObject",
    "ListParts": "s3:ListMultipartUploadParts",
}
# S3 decrypts the parts to assemble them: S3 User Guide, "Multipart upload API and permissions".
DECRYPTS = frozenset(
    {"CompleteMultipartUpload", "CreateMultipartUpload", "UploadPart", "UploadPartCopy"}
)
