"""The replay job: retries dead letters through the same code as the consume job.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/replay.py --contract FILE \\
        --errors-table TABLE --parked-bucket BUCKET \\
        --lake-table DATABASE.TABLE --consume-checkpoint s3://... --reason unknown-schema ...

Pass the sinks, routes and transform of the consume job. The row of a record that is written is
marked as done; a record that failed three times is parked. The job may be killed at any point and
run again. A second replay at the same time is rejected. It prints one line of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import uuid4

from penstock.packages import explain_missing_packages

with explain_missing_packages():
    from penstock.spark import ReplaySettings, read_job, run_replay


def main(argv: Sequence[str] | None = None) -> None:
    """Retry the selected dead letters."""
    spark, settings = read_job("replay", ReplaySettings, argv)
    name = uuid4().hex
    counts = run_replay(spark, settings, settings.schemas.load(), name)
    print(json.dumps({"service": "replay", "replay": name, **counts.to_values()}))


if __name__ == "__main__":
    main()
