"""Calls to AWS where a client of botocore's would cost more than all else: our own."""

from __future__ import annotations

from penstock.aws.client import AwsClient, Service
from penstock.aws.connection import Answer, KeptConnection, Timeouts

__all__ = ["Answer", "AwsClient", "KeptConnection", "Service", "Timeouts"]
