"""Run the story: `make demo`. Run it again for more rows; `make demo-down` ends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from demo.accounts import MACHINE, REGION, ROOT, SPARK, Account, Local, make_jobs
from demo.screen import StepFailedError, Steps, print_failure
from demo.story import CONSUMER_NAME, Story
from localcloud.command.instance import find_instance

_LOCAL = Local(ROOT / ".localcloud")
_PRODUCER = Account("producer", "111111111111", _LOCAL, _LOCAL.folder / "terraform")
_CONSUMER = Account("consumer", "222222222222", _LOCAL, _LOCAL.folder / "terraform")
_ZIPS = ROOT / "build" / "host"
_LAST_LINES = 12

_GO_ON = """
The environment stays up so that you can experiment:

  eval "$(.venv/bin/python -m localcloud env --account {producer})"
  .venv/bin/aws lambda invoke --function-name {function} \\
      --payload fileb://lambdas/producer/events/add_temperature.json /dev/stdout
  .venv/bin/python -m localcloud logs {consumer_function} --once
  .venv/bin/python tools/terraform.py -chdir=.localcloud/terraform/producer plan

  make demo         send four more events, without a new version
  make demo-down    stop everything"""


def main() -> int:
    """Run the story; return 1 when a step failed."""
    try:
        steps = Steps()
        story = _prepare(steps)
        story.run(steps)
        steps.finish()
    except StepFailedError as error:
        print_failure(error)
        return 1
    function = story.produced["functions"]["producer"]
    names = {"producer": _PRODUCER.id, "function": function}
    print(_GO_ON.format(consumer_function=story.consumed["functions"]["consumer"]["name"], **names))
    return 0


def _prepare(steps: Steps) -> Story:
    with steps.step("build the zips"):
        words = ["--python", "host", "--arch", "host", "--into", str(_ZIPS)]
        _call("the zips cannot be built", Path("tools/build_zip.py"), *words)
    with steps.step("start both accounts"):
        if find_instance(_LOCAL.folder) is None:
            _call("localcloud does not start", "-m", "localcloud", "up")
    with steps.step(f"{_PRODUCER.where}: terraform apply"):
        reader = {"name": CONSUMER_NAME, "account_id": _CONSUMER.id, "topics": ["sensor"]}
        cluster = {"broker_count": 2}
        _PRODUCER.prepare(_ZIPS, region=REGION, consumers=[reader], cluster=cluster)
        _PRODUCER.apply()
    with steps.step(f"{_CONSUMER.where}: contract, terraform apply"):
        deploy_role = f"arn:aws:iam::{_CONSUMER.id}:role/deploy"
        _CONSUMER.prepare(_ZIPS, deploy_role_arn=deploy_role, jobs=make_jobs(), spark=SPARK)
        _CONSUMER.take_contract(_PRODUCER, CONSUMER_NAME)
        _CONSUMER.apply()
    return Story(_PRODUCER, _CONSUMER, _PRODUCER.outputs(), _CONSUMER.outputs())


def _call(why: str, *words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise StepFailedError(MACHINE, why, (done.stdout + done.stderr).splitlines()[-_LAST_LINES:])


if __name__ == "__main__":
    sys.exit(main())
