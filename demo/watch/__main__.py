"""Run the story of watching: `make demo-watch`, beside `make demo` or alone."""

from __future__ import annotations

from demo.places import require_program
from demo.prepare import prepare
from demo.screen import story_steps
from demo.watch.story import WatchStory


def main() -> None:
    """Run the story; exit with 1 when a step failed."""
    with story_steps() as steps:
        prometheus = require_program("prometheus", how="it (apt install prometheus)")
        exporter = "prometheus-node-exporter"
        require_program(exporter, "node_exporter", how=f"it (apt install {exporter})")
        producer, _ = prepare(steps, staging=False)
        WatchStory(producer, prometheus).tell(steps)


if __name__ == "__main__":
    main()
