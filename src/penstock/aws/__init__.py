"""A small client for AWS services that speak JSON, queries of Athena, files on S3, error codes."""

from __future__ import annotations

from penstock.aws.athena import Athena, QueryAnswer, QueryRow, quote_identifier
from penstock.aws.client import AwsClient, Service
from penstock.aws.connection import Answer, KeptConnection, Timeouts, trusted_context
from penstock.aws.errors import Fault, classify, classify_answer, translated_s3_errors
from penstock.aws.objects import open_s3, read_text_at, split_s3_url
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
    "open_s3",
    "quote_identifier",
    "read_text_at",
    "split_s3_url",
    "translated_s3_errors",
    "trusted_context",
]
