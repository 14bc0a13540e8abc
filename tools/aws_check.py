"""Ask AWS what Penstock assumes and cannot know without an account, by the cheapest calls.

Usage: tools/aws_check.py [--help]

Asks the account of the credentials in the environment, in its region. It says first what it would
create and what that costs, and goes on with CONFIRM=yes or after a question. Without credentials
it says so. It exits with 1 if AWS does something other than Penstock expects.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tools.aws_probes import (
    Finding,
    ask_bucket_notifications,
    ask_cluster_endpoint,
    ask_concurrency,
    ask_endpoint_zones,
    ask_kafka_pairs,
)
from tools.aws_spark_probe import ask_spark_environment


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to AWS."""

    name: str
    question: str
    creates: str
    usd: float
    ask: Callable[[Any], Finding]


PROBES: Final = (
    Probe(
        "kafka-pairs",
        "Which instance types does MSK take with which Kafka version?",
        "nothing: the subnets are invented, so no cluster is created",
        0.0,
        ask_kafka_pairs,
    ),
    Probe(
        "endpoint-zones",
        "Which zones have every interface endpoint that the roots create?",
        "nothing",
        0.0,
        ask_endpoint_zones,
    ),
    Probe(
        "cluster-endpoint",
        "Which zones have the endpoint through which EMR reaches a cluster of spark.cluster?",
        "nothing",
        0.0,
        ask_cluster_endpoint,
    ),
    Probe(
        "concurrency",
        "How many functions run at once, and may a scheduled function reserve one?",
        "nothing",
        0.0,
        ask_concurrency,
    ),
    Probe(
        "bucket-notifications",
        "May a bucket publish to an encrypted topic whose key names the bucket in conditions?",
        "a bucket, a topic and a KMS key, all deleted again (the key after 7 days)",
        0.01,
        ask_bucket_notifications,
    ),
    Probe(
        "spark-environment",
        "Do Spark workers import from an archive, and have a region in AWS_REGION?",
        "a bucket, a role and an EMR Serverless application for some minutes, all deleted again",
        0.05,
        ask_spark_environment,
    ),
)


def main() -> int:
    """Ask every question, and return 1 if an answer differs from what is expected."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    session = boto3.Session()
    if session.get_credentials() is None:
        print("aws-check: there are no AWS credentials, so AWS was not asked")
        return 0
    try:
        account = session.client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        print(f"aws-check: the AWS credentials cannot be used: {error}", file=sys.stderr)
        return 2
    _announce(account, session.region_name)
    if not _is_confirmed():
        print("aws-check: not confirmed (CONFIRM=yes), so AWS was not asked")
        return 0
    differing = [probe for probe in PROBES if _report(probe, session)]
    return 1 if differing else 0


def _announce(account: str, region: str) -> None:
    print(f"aws-check would ask account {account} in {region}:")
    for probe in PROBES:
        print(f"  {probe.name:22} about {probe.usd:.2f} USD; creates {probe.creates}")
    print(f"  {'together':22} about {sum(probe.usd for probe in PROBES):.2f} USD")


def _is_confirmed() -> bool:
    answer = os.environ.get("CONFIRM", "")
    if not answer and sys.stdin.isatty():
        answer = input("Go on? (yes/no) ")
    return answer == "yes"


def _report(probe: Probe, session: Any) -> bool:
    """Print what AWS answers, and return whether it differs from what is expected."""
    try:
        finding = probe.ask(session)
    except (BotoCoreError, ClientError) as error:
        finding = Finding(None, [f"AWS did not answer: {error}"])
    verdict = {True: "as expected", False: "DIFFERENT", None: "not settled"}[finding.expected]
    print(f"\n{probe.name}: {verdict}. {probe.question}")
    for line in finding.lines:
        print(f"  {line}")
    return finding.expected is False


if __name__ == "__main__":
    sys.exit(main())
