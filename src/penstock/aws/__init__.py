"""Calls to AWS where a client of botocore's would cost more than all else: our own."""

from __future__ import annotations

from penstock.aws.client import AwsClient, Service
from penstock.aws.connection import Answer, KeptConnection, Timeouts
from penstock.aws.errors import Fault, classify, classify_answer
from penstock.aws.objects import translated_s3_errors

__all__ = [
    "Answer",
    "AwsClient",
    "Fault",
    "KeptConnection",
    "Service",
    "Timeouts",
    "classify",
    "classify_answer",
    "translated_s3_errors",
]
