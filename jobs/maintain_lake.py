"""The maintenance job: compacts lake tables, expires snapshots and removes orphan files.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/maintain_lake.py \\
        --lake-table DATABASE.TABLE

It may run while other jobs write to the tables, which are maintained one after the other, and
prints the result of each as one line of JSON. A table that fails does not stop the next one. With
`--if-there`, a table that is not there does not fail: the first record of a topic makes it.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict

from penstock.packages import explain_missing_packages

with explain_missing_packages():
    from penstock.spark import MaintainSettings, build_session, maintain_table


def main(argv: Sequence[str] | None = None) -> None:
    """Maintain the tables.

    Raises:
        SystemExit: at least one of them failed.
    """
    settings = MaintainSettings.from_args(sys.argv[1:] if argv is None else argv)
    spark, failed = build_session("maintain-lake"), []
    for one in settings.by_table():
        try:
            print(json.dumps(asdict(maintain_table(spark, one))), flush=True)
        except Exception:  # whatever Spark, Iceberg or S3 refuse
            traceback.print_exc()
            failed.append(one.lake_table)
    if failed:
        sys.exit(f"maintenance failed for {', '.join(failed)}; the errors are above")


if __name__ == "__main__":
    main()
