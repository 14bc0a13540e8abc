"""Ask AWS what Penstock assumes and cannot know without an account, by the cheapest calls.

Usage: python -m tools.aws_check [--help] [NAME ...]    NAMEs of questions, or `free`; all without

Asks the account of the credentials in the environment, in its region. It says first what it would
create and what that costs, and goes on with CONFIRM=yes or after a question. Without credentials
it says so. Each answer names the assumptions of `python -m localcloud assumptions` that it settles.
It exits with 1 if AWS does something other than Penstock expects.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tools.aws_check.account import (
    ask_cluster_endpoint,
    ask_concurrency,
    ask_endpoint_zones,
    ask_kafka_pairs,
)
from tools.aws_check.deployed import ask_cluster_users, ask_pollers
from tools.aws_check.findings import Finding
from tools.aws_check.grants import ask_deleted_grants
from tools.aws_check.images import ask_newest_image
from tools.aws_check.notifications import ask_bucket_notifications
from tools.aws_check.roles import ask_policy_sizes
from tools.aws_check.schedules import ask_schedules
from tools.aws_check.spark import ask_spark_environment


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to AWS, and the ids of the assumptions that its answer settles."""

    name: str
    question: str
    creates: str
    usd: float
    ask: Callable[[Any], Finding]
    settles: tuple[str, ...]


# Cheapest first.
PROBES: Final = (
    Probe(
        "kafka-pairs",
        "Which instance types does MSK take with which Kafka version?",
        "nothing: the subnets are invented, so no cluster is created",
        0.0,
        ask_kafka_pairs,
        ("burstable-brokers",),
    ),
    Probe(
        "endpoint-zones",
        "Which zones have every interface endpoint that the roots create?",
        "nothing",
        0.0,
        ask_endpoint_zones,
        ("endpoint-zones",),
    ),
    Probe(
        "cluster-endpoint",
        "Which zones have the endpoint through which EMR reaches a cluster of spark.cluster?",
        "nothing",
        0.0,
        ask_cluster_endpoint,
        ("endpoint-zones",),
    ),
    Probe(
        "pollers",
        "Do the pollers of an applied consumer pass the endpoints of its VPC?",
        "nothing",
        0.0,
        ask_pollers,
        ("poller-principal",),
    ),
    Probe(
        "cluster-users",
        "Which users run drivers and executors on a cluster, and can both read /home/hadoop?",
        "a step on the cluster of spark.cluster, if one runs",
        0.0,
        ask_cluster_users,
        ("emr-users",),
    ),
    Probe(
        "concurrency",
        "How many functions run at once, and may a scheduled function reserve one?",
        "a function that nobody invokes and its role, both deleted again",
        0.0,
        ask_concurrency,
        ("unreserved-minimum",),
    ),
    Probe(
        "policy-sizes",
        "How long may the policies of a role be, and does white space count?",
        "a role and a policy, both deleted again",
        0.0,
        ask_policy_sizes,
        ("policy-sizes",),
    ),
    Probe(
        "schedules",
        "Which schedules does EventBridge Scheduler refuse?",
        "a role and a schedule that never fires, both deleted again",
        0.0,
        ask_schedules,
        ("schedule-past", "schedule-texts"),
    ),
    Probe(
        "newest-image",
        "May a launch template name its image by a parameter?",
        "a launch template, deleted again; no instance is started",
        0.0,
        ask_newest_image,
        ("newest-image",),
    ),
    Probe(
        "deleted-grants",
        "Does Lake Formation decide on new tables, and does a grant end with its database?",
        "an empty database and a role, both deleted again",
        0.0,
        ask_deleted_grants,
        ("lake-deleted-grants",),
    ),
    Probe(
        "bucket-notifications",
        "May a bucket publish to an encrypted topic whose key names the bucket in conditions?",
        "a bucket, a topic and a KMS key, all deleted again (the key after 7 days)",
        0.01,
        ask_bucket_notifications,
        ("bucket-notifications",),
    ),
    Probe(
        "spark-environment",
        "What do Spark workers find (archives, packages, region), and is a line of log an event?",
        "a bucket, a log group, a role and, for some minutes, an EMR Serverless application, "
        "all deleted again",
        0.05,
        ask_spark_environment,
        ("emr-archives", "emr-log-events", "emr-python"),
    ),
)


def main() -> int:
    """Ask every question, and return 1 if an answer differs from what is expected."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    probes = _choose(sys.argv[1:])
    if not probes:
        known = ", ".join(probe.name for probe in PROBES)
        print(f"aws-check: {' '.join(sys.argv[1:])}: expected free, or of {known}", file=sys.stderr)
        return 2
    session = boto3.Session()
    if session.get_credentials() is None:
        print("aws-check: there are no AWS credentials, so AWS was not asked")
        return 0
    try:
        account = session.client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        print(f"aws-check: the AWS credentials cannot be used: {error}", file=sys.stderr)
        return 2
    _announce(probes, account, session.region_name)
    if not _is_confirmed():
        print("aws-check: not confirmed (CONFIRM=yes), so AWS was not asked")
        return 0
    differing = [probe for probe in probes if _report(probe, session)]
    return 1 if differing else 0


def _choose(words: list[str]) -> list[Probe]:
    """Return the probes of these words, all without any, none if a word is unknown."""
    known = {probe.name: [probe] for probe in PROBES}
    known["free"] = [probe for probe in PROBES if not probe.usd]
    if not all(word in known for word in words):
        return []
    chosen = [probe for word in words or known for probe in known[word]]
    return [probe for probe in PROBES if probe in chosen]


def _announce(probes: list[Probe], account: str, region: str) -> None:
    print(f"aws-check would ask account {account} in {region}:")
    for probe in probes:
        print(f"  {probe.name:22} about {probe.usd:.2f} USD; creates {probe.creates}")
    print(f"  {'together':22} about {sum(probe.usd for probe in probes):.2f} USD")


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
    if finding.expected is not None:
        print(f"  settles {', '.join(probe.settles)} of `python -m localcloud assumptions`")
    return finding.expected is False


if __name__ == "__main__":
    sys.exit(main())
