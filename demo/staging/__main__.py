"""Run the story of staging: `make demo-staging`, beside `make demo` or alone."""

from __future__ import annotations

import sys
import time

from demo.prepare import prepare
from demo.screen import StepFailedError, Steps, print_failure
from demo.staging.story import StagingStory


def main() -> int:
    """Run the story; return 1 when a step failed."""
    try:
        steps = Steps()
        producer, consumer = prepare(steps, staging=True)
        run = f"-{int(time.time()) % 100_000}"
        StagingStory(producer, consumer, producer.outputs(), consumer.outputs(), run).tell(steps)
        steps.finish()
    except StepFailedError as error:
        print_failure(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
