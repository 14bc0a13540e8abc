"""Run the story of two services: `make demo-services`, beside `make demo` or alone."""

from __future__ import annotations

from demo.places import require_program
from demo.prepare import ZIPS, prepare_producer
from demo.screen import story_steps
from demo.services.story import NAME, ServicesStory, make_services


def main() -> None:
    """Run the story; exit with 1 when a step failed."""
    with story_steps() as steps:
        require_program("go", how="Go 1.24 or newer (https://go.dev/doc/install)")
        producer = prepare_producer(steps)
        services = make_services(producer, producer.local.folder / "terraform" / NAME, ZIPS)
        ServicesStory(producer, services).tell(steps)


if __name__ == "__main__":
    main()
