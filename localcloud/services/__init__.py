"""The services of localcloud: importing a module here registers its operations."""

from __future__ import annotations

from localcloud.services import (
    athena,
    autoscaling,
    cloudwatch,
    ec2,
    elbv2,
    emr_serverless,
    events,
    glue_catalog,
    glue_crawlers,
    glue_registry,
    kafka,
    lakeformation,
    lambda_,
    logs,
    route53,
    scheduler,
    schemas,
    secretsmanager,
    sts,
    triggers,
)

__all__ = [
    "athena",
    "autoscaling",
    "cloudwatch",
    "ec2",
    "elbv2",
    "emr_serverless",
    "events",
    "glue_catalog",
    "glue_crawlers",
    "glue_registry",
    "kafka",
    "lakeformation",
    "lambda_",
    "logs",
    "route53",
    "scheduler",
    "schemas",
    "secretsmanager",
    "sts",
    "triggers",
]
