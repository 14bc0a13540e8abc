"""Sales jobs: a consumer's on EMR Serverless and on a cluster of EMR, the producer's on a cluster.

Their settings are SSM parameters. The topic has events of sensors, and one sale.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from demo.accounts import SPARK
from tests.e2e.accounts import Root
from tests.e2e.payments import TOPIC

SALE = {"payment_id": 1, "customer_id": 2, "amount": 4.99, "country": "Peru"}
SERVERLESS, STEP = "sales", "figures"
TOTALS = "totals"
# The cluster runs a job of sales and one that writes tables.
_CLUSTER_JOBS = [STEP, TOPIC]
_JOBS: dict[str, Any] = {
    SERVERLESS: {"commands": ["summarize"], "reads": ["sensor"]},
    STEP: {
        "commands": ["totals"],
        "output_table": TOTALS,
        "reads": ["sensor"],
        "trigger": "available-now",
    },
}
# The calls of both extensions, whose objects are JSON.
SALES = f"""
module "sales" {{
  source   = "../extensions/sales"
  platform = local.platform
  jobs     = {json.dumps(_JOBS)}
}}

output "sales" {{
  value = module.sales
}}

module "emr_cluster" {{
  source         = "../extensions/emr_cluster"
  platform       = local.platform
  cluster        = {{ concurrent_steps = 2 }}
  jobs           = {json.dumps(_CLUSTER_JOBS)}
  jobs_of_others = module.sales.jobs
}}

output "emr_cluster" {{
  value = module.emr_cluster
}}
"""
SUMMARY_RUN, TOTALS_RUN = f"{SERVERLESS}-summarize", f"{STEP}-totals"
SHOP, SHOP_TOTALS = "shop", "shop-totals"
SHOP_RUN = f"{SHOP}-totals"
OF_THE_PRODUCER: dict[str, Any] = {
    "jobs": {
        SHOP: {
            "commands": ["totals"],
            "parameters": {"output_topic": SHOP_TOTALS},
            "reads": ["sensor"],
            "trigger": "available-now",
            "writes": [SHOP_TOTALS],
        }
    },
    "spark": SPARK | {"cluster": {"jobs": [SHOP]}},
}


def read_summary(root: Root, bucket: str) -> str:
    """Return the file that the summary wrote."""
    key = f"sales/{SERVERLESS}/spark_output/sales_by_country.csv"
    found = root.client("s3").get_object(Bucket=bucket, Key=key)
    return str(found["Body"].read().decode())


def read_times(root: Root) -> dict[str, tuple[datetime, datetime]]:
    """Return when each step of a consumer's cluster began and ended, by name."""
    cluster = root.outputs()["emr_cluster"]["cluster"]["id"]
    steps = root.client("emr").list_steps(ClusterId=cluster)["Steps"]
    times = {step["Name"]: step["Status"]["Timeline"] for step in steps}
    return {name: (time["StartDateTime"], time["EndDateTime"]) for name, time in times.items()}
