"""What the lake's bucket forgets is what jobs leave there."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.spark.state import lease

_INFRA = Path(__file__).parents[3] / "infra"


def test_versions_of_signs_of_life_are_forgotten_where_jobs_leave_them() -> None:
    module = (_INFRA / "modules/lake/main.tf").read_text()
    spark = (_INFRA / "consumer/spark.tf").read_text()

    assert re.findall(r'prefix = "\$\{path}/(.+)/"', module) == [lease._FOLDER]
    written = re.findall(r'"--checkpoint", "([^"]+)"', spark)
    assert written == [
        f"${{local.lake_bucket}}/${{local.checkpoints.{job}}}" for job in ("consume", "replay")
    ]
