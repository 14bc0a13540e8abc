"""Run the story of watching: `make demo-watch`, beside `make demo` or alone."""

from __future__ import annotations

import sys

from demo.prepare import prepare
from demo.screen import StepFailedError, Steps, print_failure
from demo.watch.story import WatchStory


def main() -> int:
    """Run the story; return 1 when a step failed."""
    try:
        steps = Steps()
        producer, _ = prepare(steps, staging=False)
        WatchStory(producer).tell(steps)
        steps.finish()
    except StepFailedError as error:
        print_failure(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
