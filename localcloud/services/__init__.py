"""The services of localcloud: importing a module here registers its operations."""

from __future__ import annotations

from localcloud.services import (
    athena,
    autoscaling,
    ec2,
    elbv2,
    emr_serverless,
    glue_catalog,
    glue_registry,
    kafka,
    lambda_,
    route53,
    schemas,
    secretsmanager,
    sts,
)

__all__ = [
    "athena",
    "autoscaling",
    "ec2",
    "elbv2",
    "emr_serverless",
    "glue_catalog",
    "glue_registry",
    "kafka",
    "lambda_",
    "route53",
    "schemas",
    "secretsmanager",
    "sts",
]
