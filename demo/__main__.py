"""Run the story: `make demo`. Run it again for more rows; `make demo-down` ends it."""

from __future__ import annotations

import sys

from demo.prepare import prepare
from demo.profiles import SHELL
from demo.screen import StepFailedError, Steps, print_failure
from demo.story import CONSUMER_NAME, Story

_GO_ON = """
The environment stays up so that you can experiment:

  eval "$(.venv/bin/python -m localcloud env --account {producer})"
  .venv/bin/aws lambda invoke --function-name {function} \\
      --payload fileb://lambdas/producer/events/add_temperature.json /dev/stdout
  .venv/bin/python -m localcloud logs {consumer_function} --once
  .venv/bin/python tools/terraform.py -chdir=.localcloud/terraform/producer plan

`penstock` finds both accounts in penstock.toml. What reads or writes topics runs on a host of a
VPC, as on AWS:

  .venv/bin/penstock schema versions sensor
  .venv/bin/penstock --profile {consumer} errors list
  .venv/bin/penstock --profile {consumer} submit --wait consume
  .venv/bin/python -m localcloud run --as {producer_host} -- \\
      .venv/bin/penstock produce --records 3
  .venv/bin/python -m localcloud run --as {consumer_host} -- \\
      .venv/bin/penstock --profile {consumer} read sensor

  make demo         send four more events, without a new version
  make demo-down    stop everything"""


def main() -> int:
    """Run the story; return 1 when a step failed."""
    try:
        steps = Steps()
        producer, consumer = prepare(steps, staging=False)
        story = Story(producer, consumer, producer.outputs(), consumer.outputs())
        story.run(steps)
        steps.finish()
    except StepFailedError as error:
        print_failure(error)
        return 1
    function = story.produced["functions"]["producer"]
    names = {
        "consumer": CONSUMER_NAME,
        "consumer_host": f"penstock-{CONSUMER_NAME}-client-{SHELL}",
        "function": function,
        "producer": producer.id,
        "producer_host": f"penstock-client-{SHELL}",
    }
    print(_GO_ON.format(consumer_function=story.consumed["functions"]["consumer"]["name"], **names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
