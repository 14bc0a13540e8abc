"""Run the story: `make demo`. Run it again for more rows; `make demo-down` ends it."""

from __future__ import annotations

from demo.prepare import prepare
from demo.profiles import HOSTS
from demo.screen import story_steps
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

Both accounts in a browser, with an address that is valid once:

  .venv/bin/penstock console

  make demo         send four more events, without a new version
  make demo-down    stop everything"""


def main() -> None:
    """Run the story; exit with 1 when a step failed."""
    with story_steps() as steps:
        producer, consumer = prepare(steps, staging=False)
        story = Story(producer, consumer, producer.outputs(), consumer.outputs())
        story.run(steps)
    function = story.produced["functions"]["producer"]
    names = {
        "consumer": CONSUMER_NAME,
        "consumer_host": HOSTS["consumer"],
        "function": function,
        "producer": producer.id,
        "producer_host": HOSTS["producer"],
    }
    print(_GO_ON.format(consumer_function=story.consumed["functions"]["consumer"]["name"], **names))


if __name__ == "__main__":
    main()
