"""A small client for AWS services that speak JSON, queries of Athena, and AWS's error codes."""

from __future__ import annotations

from penstock.aws.athena import Athena, QueryAnswer, QueryRow, quote_identifier
from penstock.aws.client import AwsClient, Service
from penstock.aws.connection import Answer, KeptConnection, Timeouts, trusted_context
from penstock.aws.errors import Fault, classify, classify_answer, translated_s3_errors
from penstock.aws.pages import ask_all_pages

__all__ = [
    "Answer",
    "Athena",
    "AwsClient",
    "Fault",
    "KeptConnection",
    "QueryAnswer",
    "QueryRow",
    "Service",
    "Timeouts",
    "ask_all_pages",
    "classify",
    "classify_answer",
    "quote_identifier",
    "translated_s3_errors",
    "trusted_context",
]
