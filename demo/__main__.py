"""Run the story: `make demo`. Run it again for more rows; `make demo-down` ends it."""

from __future__ import annotations

import sys

from demo.accounts import (
    CONSUMER,
    CONSUMER_NAME,
    PRODUCER,
    REGION,
    build_zips,
    hand_over,
    start_localcloud,
)
from demo.screen import StepFailedError, Steps, print_failure, print_table
from demo.story import EVENTS, await_rows, check_rows, describe_versions, read_rows, send, show_row

_GO_ON = """
The cloud stays up. Go on by hand:

  eval "$(.venv/bin/python -m localcloud env --account {producer})"
  .venv/bin/aws lambda invoke --function-name {function} \\
      --payload fileb://lambdas/producer/events/add_temperature.json /dev/stdout
  .venv/bin/python -m localcloud logs {consumer_function} --once
  .venv/bin/python tools/terraform.py -chdir=.localcloud/terraform/producer plan

  make demo         again: four more rows, no new version
  make demo-down    end all of it"""


def main() -> int:
    """Tell the story; 1 when a step failed."""
    try:
        _tell()
    except StepFailedError as error:
        print_failure(error)
        return 1
    return 0


def _tell() -> None:
    steps = Steps()
    with steps.step("build the zips"):
        build_zips()
    with steps.step("start both accounts"):
        start_localcloud()
    with steps.step(f"producer account {PRODUCER.id}: terraform apply"):
        consumer = {"name": CONSUMER_NAME, "account_id": CONSUMER.id, "topics": ["sensor"]}
        PRODUCER.apply(region=REGION, consumers=[consumer], cluster={"broker_count": 2})
    with steps.step(f"consumer account {CONSUMER.id}: contract, terraform apply"):
        hand_over()
        deploy = f"arn:aws:iam::{CONSUMER.id}:role/deploy"
        CONSUMER.apply(deploy_role_arn=deploy)
    produced, consumed = PRODUCER.outputs(), CONSUMER.outputs()
    before = read_rows(consumed["readings_table"])
    with steps.step(f"invoke the producer function {len(EVENTS)} times"):
        sent = [send(produced["functions"]["producer"], name) for name in EVENTS]
    print_table([one.describe() for one in sent], ["event", "version", "new", "record"])
    with steps.step("wait for the rows on the other side, and check them"):
        rows = await_rows(consumed, sent)
        check_rows(sent, before, rows)
    new = [show_row(rows[one.source]) for one in sent]
    print_table(new, ["deviceId", "timestamp", "temperature", "location", "_schema"])
    print(f"\n      {len(rows)} rows, {len(before)} of them from before. Versions of the schema:")
    registry = produced["contracts"][CONSUMER_NAME]["registry"]["name"]
    for line in describe_versions(registry, sent[0].answer["schema"]["name"]):
        print(f"      {line}")
    steps.finish()
    function = produced["functions"]["producer"]
    names = {"producer": PRODUCER.id, "function": function}
    print(_GO_ON.format(consumer_function=consumed["function"], **names))


if __name__ == "__main__":
    sys.exit(main())
