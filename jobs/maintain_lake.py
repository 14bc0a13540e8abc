"""The maintenance job: compacts a lake table, expires snapshots and removes orphan files.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/maintain_lake.py \\
        --lake-table DATABASE.TABLE

It may run while other jobs write to the table, and prints its result as one line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from penstock.packages import explain_missing_packages

with explain_missing_packages():
    from penstock.spark import MaintainSettings, build_session, maintain_table


def main(argv: Sequence[str] | None = None) -> None:
    """Maintain one table."""
    settings = MaintainSettings.from_args(sys.argv[1:] if argv is None else argv)
    done = maintain_table(build_session("maintain-lake"), settings)
    print(json.dumps(asdict(done)))


if __name__ == "__main__":
    main()
