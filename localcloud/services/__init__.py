"""The services of localcloud: importing a module here registers its operations."""

from __future__ import annotations

from localcloud.services import ec2, elbv2, lambda_, route53

__all__ = ["ec2", "elbv2", "lambda_", "route53"]
