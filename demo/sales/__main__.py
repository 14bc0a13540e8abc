"""Run the story of sales: `make demo-sales`, beside `make demo` or alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from demo.sales.story import SalesStory
from demo.screen import story_steps
from demo.spark import start_spark
from localcloud.registry import ApicurioProcess
from systems.brokers import running_broker


def main() -> None:
    """Run the story; exit with 1 when a step failed."""
    with story_steps() as steps, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with steps.step("start a broker, Apicurio and Spark"):
            servers = stack.enter_context(running_broker(folder / "broker"))
            registry = ApicurioProcess("127.0.0.1", 0, folder / "apicurio.log")
            stack.callback(registry.kill)
            with _errors_in(folder / "spark.log"):
                stack.callback(start_spark(folder).stop)
        SalesStory(servers, registry.url, folder).tell(steps)


@contextmanager
def _errors_in(log: Path) -> Iterator[None]:
    """Let processes that start here, such as Spark's JVM, write their errors to a file."""
    own = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


if __name__ == "__main__":
    main()
