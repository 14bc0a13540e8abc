"""Tries records again that were given up, by the code that consumes, and says what came of it.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/replay.py --contract FILE \\
        --errors-table TABLE --parked-bucket BUCKET \\
        --lake-table DATABASE.TABLE --consume-checkpoint s3://... --reason unknown-schema ...

Give it the sinks and routes of the job that consumes. A record that is written is marked done in
its row; one that failed three times is parked. It may be killed at any point and run again; a
second one beside it is refused. Prints one line of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import uuid4

from penstock.registry import load_registries
from penstock.spark import ReplaySettings, read_job, run_replay


def main(argv: Sequence[str] | None = None) -> None:
    """Try again what is selected."""
    spark, settings = read_job("replay", ReplaySettings, argv)
    name = uuid4().hex
    counts = run_replay(spark, settings, load_registries(settings.registry), name)
    print(json.dumps({"service": "replay", "replay": name, **counts.to_values()}))


if __name__ == "__main__":
    main()
