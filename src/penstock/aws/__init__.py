"""Calls to AWS where a client of botocore's would cost more than all else: our own."""

from __future__ import annotations

from penstock.aws.client import AwsClient, Service
from penstock.aws.connection import Answer, KeptConnection, Timeouts
from penstock.aws.objects import translated_s3_errors

__all__ = [
    "Answer",
    "AwsClient",
    "KeptConnection",
    "Service",
    "Timeouts",
    "translated_s3_errors",
]
