"""Run the story of change data capture: `make demo-cdc`, beside `make demo` or alone."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from demo.accounts import ROOT, Local
from demo.cdc.account import FilmAccount
from demo.cdc.lake import Lake, log_in, start_lake
from demo.cdc.story import CdcStory
from demo.prepare import start_localcloud
from demo.screen import Steps, story_steps
from localcloud.network.names import resolve_names
from tools.build_plugin import APICURIO, build_plugin


def main() -> None:
    """Run the story; exit with 1 when a step failed."""
    with story_steps() as steps, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        account, registry = _prepare(steps)
        names, ca_file = account.brokers()
        stack.enter_context(resolve_names(names))
        with steps.step("start Spark"):
            spark = start_lake(folder, names, account.keys())
            stack.callback(spark.stop)
        kafka = log_in(account.outputs["bootstrap_servers"], ca_file)
        CdcStory(account, Lake(spark, folder, kafka, registry)).tell(steps)


def _prepare(steps: Steps) -> tuple[FilmAccount, str]:
    """Make the account; return it with the URL of its registry."""
    local = Local(ROOT / ".localcloud")
    with steps.step("build the plugin, and start localcloud"):
        build_plugin(ROOT / "build" / APICURIO)
        start_localcloud()
        account = FilmAccount.make(local)
    with steps.step("terraform apply: a network, brokers, PostgreSQL"):
        account.apply()
    with steps.step("start Apicurio, and create six tables"):
        registry = account.start_registry()
        account.prepare_database()
    with steps.step("terraform apply: the connector, which snapshots"):
        account.apply(prepared=True)
    return account, registry


if __name__ == "__main__":
    main()
