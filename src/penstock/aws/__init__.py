"""A small client for AWS services that speak JSON, and the classification of AWS error codes."""

from __future__ import annotations

from penstock.aws.client import AwsClient, Service
from penstock.aws.connection import Answer, KeptConnection, Timeouts
from penstock.aws.errors import Fault, classify, classify_answer, translated_s3_errors

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
