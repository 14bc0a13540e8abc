"""The story of staging: rows are staged, joined, wait, are released, retried and parked."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demo.accounts import REGION, Account
from demo.diagnose import choose_lines
from demo.lake import read_lake, run_jobs
from demo.prepare import STAGING_JOB, function_of
from demo.rows import Row, read_table
from demo.screen import StepFailedError, Steps, print_table
from demo.staging.publisher import DRIVER

_JOB_SECONDS = 300
_PARKED_SECONDS = 60
_PARKED = """
SELECT driver, attempts, waiting_for[1] AS waits_for, reason
FROM parked_records WHERE stage = 'join' ORDER BY driver
"""


@dataclass(frozen=True, slots=True)
class StagingStory:
    """Both accounts after their apply; `run` makes the keys new."""

    producer: Account
    consumer: Account
    produced: dict[str, Any]
    consumed: dict[str, Any]
    run: str

    def tell(self, steps: Steps) -> None:
        """Publish, stage, join, release, retry and park, and check each.

        Raises:
            StepFailedError: something is wrong, and where.
        """
        topic = self.listen()
        with steps.step("publish rows of five tables"):
            self.publish(self.first_rows())
        self.stage(steps, "stage them, and join what is complete")
        self.expect("joined", {f"s1{self.run}"})
        self.show_waiting()
        with steps.step("publish the customer that is late, with a new column"):
            late = {"customer_id": f"c2{self.run}", "name": "Grace", "loyalty": "gold"}
            self.publish([("customers", late)])
        self.stage(steps, "stage it: it releases its shipment")
        self.expect("joined", {f"s1{self.run}", f"s2{self.run}"})
        self.show_waiting()
        with steps.step("fire the schedule until three retries have failed"):
            self.retry()
        with steps.step("receive the notice, and ask Athena for what is parked"):
            notice = self.receive(topic)
            parked = self.parked()
        print(f"      the notice: {notice}")
        print_table(parked, ["driver", "attempts", "waits_for", "reason"])

    def first_rows(self) -> list[tuple[str, Row]]:
        """Return rows for a shipment that is complete, one whose customer is late, and one whose
        product never comes.
        """
        run = self.run
        rows: list[tuple[str, Row]] = [
            ("customers", {"customer_id": f"c1{run}", "name": "Ada"}),
            ("products", {"product_id": f"p1{run}", "title": "Pen", "price": 3}),
        ]
        for number, (customer, product) in enumerate(
            (("c1", "p1"), ("c2", "p1"), ("c1", "p9")), start=1
        ):
            order = {"order_id": f"o{number}{run}", "customer_id": f"{customer}{run}"}
            line = {"order_id": order["order_id"], "line_no": 1, "product_id": f"{product}{run}"}
            rows += [
                ("orders", order | {"placed_at": 1795000000000}),
                ("order_lines", line | {"quantity": 2}),
                (
                    DRIVER,
                    {"shipment_id": f"s{number}{run}", "status": "packed", **order, **line},
                ),
            ]
        return rows

    def publish(self, rows: Sequence[tuple[str, Row]]) -> None:
        """Send each row by the function of its table.

        Raises:
            StepFailedError: a function failed.
        """
        client = self.producer.client("lambda")
        for table, row in rows:
            name = self.produced["functions"][function_of(table)]
            answer = client.invoke(FunctionName=name, Payload=json.dumps(row))
            said = answer["Payload"].read().decode()
            if "FunctionError" in answer:
                lines = choose_lines(self.producer.local.read_log(name))
                where = f"{self.producer.where}, function {name}"
                raise StepFailedError(where, f"it rejected {row}: {said}", lines)

    def stage(self, steps: Steps, title: str) -> None:
        """Run the staging job to the end of the topics.

        Raises:
            StepFailedError: it did not succeed.
        """
        with steps.step(title):
            (run,) = run_jobs(self.consumer, self.consumed, [STAGING_JOB], _JOB_SECONDS)
        if run["state"] != "SUCCESS":
            where = f"{self.consumer.where}, job {STAGING_JOB}"
            lines = choose_lines(self.consumer.local.read_log(run["jobRunId"]))
            raise StepFailedError(where, str(run.get("stateDetails") or run["state"]), lines)

    def expect(self, what: str, wanted: set[str]) -> None:
        """Check and print the final rows of this run.

        Raises:
            StepFailedError: a row is missing or too many.
        """
        found = {
            key: row
            for key, row in read_table(
                self.consumer, self._table("fulfilments"), "shipment_id"
            ).items()
            if key.endswith(self.run)
        }
        if set(found) != wanted:
            why = f"{sorted(found)} are {what}, expected {sorted(wanted)}"
            raise StepFailedError(f"{self.consumer.where}, {self._table('fulfilments')}", why)
        print_table(
            [
                {
                    "shipment": key,
                    "customer": found[key]["customer"].get("name"),
                    "loyalty": found[key]["customer"].get("loyalty"),
                    "product": found[key]["product"].get("title"),
                    "quantity": found[key]["order_line"].get("quantity"),
                }
                for key in sorted(found)
            ],
            ["shipment", "customer", "loyalty", "product", "quantity"],
        )

    def show_waiting(self) -> None:
        """Print the rows of drivers that wait."""
        rows = self._waiting()
        columns = ["driver", "waits for", "attempts"]
        shown = [
            {
                "driver": row.get("driver"),
                "waits for": ", ".join(row.get("waitingFor") or []),
                "attempts": row.get("attempts"),
            }
            for row in rows
        ]
        print_table(sorted(shown, key=str), columns)

    def retry(self) -> None:
        """Fire the schedule until nothing waits any more.

        Raises:
            StepFailedError: something still waits.
        """
        local, name = self.consumer.local, self._table(f"retry-{STAGING_JOB}")
        deadline = time.monotonic() + _PARKED_SECONDS
        while self._waiting():
            if time.monotonic() > deadline:
                lines = choose_lines(local.read_log(name))
                why = f"rows still wait after {_PARKED_SECONDS} s"
                raise StepFailedError(f"{self.consumer.where}, function {name}", why, lines)
            local.ask(
                "fire-schedule", account=self.consumer.id, region=REGION, group=name, schedule=name
            )
            time.sleep(1)

    def listen(self) -> str:
        """Subscribe a queue to the topic of parked records; return its URL."""
        sns, sqs = self.consumer.client("sns"), self.consumer.client("sqs")
        name = self._table("parked")
        (topic,) = [
            each["TopicArn"]
            for each in sns.list_topics()["Topics"]
            if each["TopicArn"].endswith(f":{name}")
        ]
        url = str(sqs.create_queue(QueueName=f"{name}-demo")["QueueUrl"])
        arn = f"arn:aws:sqs:{REGION}:{self.consumer.id}:{name}-demo"
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
        sqs.purge_queue(QueueUrl=url)
        return url

    def receive(self, url: str) -> str:
        """Return the object that the one notice of this run names.

        Raises:
            StepFailedError: there are none or several.
        """
        deadline = time.monotonic() + _PARKED_SECONDS
        found: list[str] = []
        sqs = self.consumer.client("sqs")
        while not found and time.monotonic() < deadline:
            for message in sqs.receive_message(QueueUrl=url).get("Messages", []):
                body = json.loads(json.loads(message["Body"])["Message"])
                found += [record["s3"]["object"]["key"] for record in body.get("Records", [])]
        if len(found) != 1:
            where = f"{self.consumer.where}, SNS"
            raise StepFailedError(where, f"found {len(found)} notices, expected one")
        return found[0]

    def parked(self) -> list[Row]:
        """Return the parked rows of this run, from Athena.

        Raises:
            StepFailedError: the shipment without its product is not among them, or another is.
        """
        rows = read_lake(self.consumer, self.consumed["lake"], _PARKED)
        ours = [row for row in rows if str(row["driver"]).endswith(self.run)]
        if [row["driver"] for row in ours] != [f"{DRIVER}/s3{self.run}"]:
            where = f"{self.consumer.where}, Athena"
            raise StepFailedError(where, f"found {ours} parked, expected s3{self.run}")
        return ours

    def _waiting(self) -> list[Row]:
        rows = read_table(self.consumer, self._table(f"{STAGING_JOB}-errors"), "id").values()
        return [row for row in rows if row.get("stage") == "join" and "nextAttemptAt" in row]

    def _table(self, name: str) -> str:
        return f"penstock-analytics-{name}"
