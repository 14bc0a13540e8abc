"""Run the story of staging: `make demo-staging`, beside `make demo` or alone."""

from __future__ import annotations

import time

from demo.prepare import prepare
from demo.screen import story_steps
from demo.staging.story import StagingStory


def main() -> None:
    """Run the story; exit with 1 when a step failed."""
    with story_steps() as steps:
        producer, consumer = prepare(steps, staging=True)
        run = f"-{int(time.time()) % 100_000}"
        StagingStory(producer, consumer, producer.outputs(), consumer.outputs(), run).tell(steps)


if __name__ == "__main__":
    main()
