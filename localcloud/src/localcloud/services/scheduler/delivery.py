"""One occurrence of a schedule on its way to the target, with its retries and its dead letter.

Every call is made with the credentials of the schedule's role, so that the role's policies decide.
Lambda takes the event and invokes the function later: a failing function is Lambda's to repeat. A
universal target is settled by the answer of its operation.
"""

from __future__ import annotations

import json
import logging
import secrets
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from localcloud.cloud import Cloud
from localcloud.destinations import queue_url
from localcloud.errors import UndecidablePolicyError
from localcloud.identity.credentials import credentials_for_role
from localcloud.metrics import Metric
from localcloud.services.scheduler.model import Schedule
from localcloud.services.scheduler.requests import trusts_scheduler
from localcloud.services.scheduler.universal import find_universal_target

_log = logging.getLogger(__name__)
_RETRY_SECONDS = (1.0, 60.0)  # the first pause and the longest: AWS does not say how long they are
_THROTTLES = frozenset({"TooManyRequestsException", "ThrottlingException"})
_SERVER_ERROR = 500
_ONCE = Config(retries={"total_max_attempts": 1})


@dataclass(slots=True)
class Delivery:
    """The invocation of a target for one occurrence."""

    cloud: Cloud = field(repr=False)
    schedule: Schedule
    occurrence: datetime
    attempts: int = 0
    execution_id: str = ""
    error: str | None = None
    _code: str = ""
    _may_pass: bool = True  # whether the next attempt may succeed

    @property
    def pause_seconds(self) -> float:
        """The pause before the next attempt: twice the one before."""
        first, longest = _RETRY_SECONDS
        return float(min(first * 2 ** (self.attempts - 1), longest))

    def attempt(self) -> bool:
        """Invoke the target once; return whether this occurrence is settled."""
        self.attempts += 1
        self.execution_id = secrets.token_hex(8)
        self._count("InvocationAttemptCount")
        try:
            self._invoke()
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            code = error.response["Error"]["Code"]
            self._fail(
                code,
                error.response["Error"]["Message"],
                may_pass=code in _THROTTLES or status >= _SERVER_ERROR,
            )
        except (ValueError, ParamValidationError) as error:
            self._fail("ValidationException", str(error), may_pass=False)
        except BotoCoreError as error:
            self._fail("AWS.Scheduler.InternalServerError", str(error), may_pass=True)
        except (PermissionError, UndecidablePolicyError) as error:
            self._fail("AccessDeniedException", str(error), may_pass=False)
        else:
            self.error = None
            return True
        exhausted = self._exhausted()
        if self._may_pass and not exhausted:
            return False
        self._send_dead_letter(exhausted)
        return True

    def _invoke(self) -> None:
        group, role = self.schedule.key[0], self.schedule.target["RoleArn"]
        if not trusts_scheduler(self.schedule.place, group, role):
            raise PermissionError(f"{role} does not let EventBridge Scheduler assume it")
        target = self.schedule.target["Arn"]
        universal = find_universal_target(target)
        if universal:
            client = self._open_client(universal.service)
            getattr(client, universal.method)(**universal.read_params(self._input()))
        else:
            client = self._open_client("lambda", target)
            client.invoke(FunctionName=target, InvocationType="Event", Payload=self._input())

    def _open_client(self, service: str, arn: str = "") -> Any:
        """Return a client that calls as the role, in the region of the ARN or of the schedule."""
        role = self.schedule.target["RoleArn"]
        region = arn.split(":")[3] if arn else self.schedule.place.region
        key = credentials_for_role(self.cloud, role, self.execution_id)
        return key.open_client(service, region, self.cloud.endpoint, _ONCE)

    def _input(self) -> str:
        """Return the input, with the attributes of the context filled in."""
        text = self.schedule.target.get("Input")
        if text is None:
            return self._notification()
        for name, value in {
            "schedule-arn": self.schedule.arn,
            "scheduled-time": _write_time(self.occurrence),
            "execution-id": self.execution_id,
            "attempt-number": str(self.attempts),
        }.items():
            text = text.replace(f"<aws.scheduler.{name}>", value)
        return str(text)

    def _notification(self) -> str:
        return json.dumps(
            {
                "version": "0",
                "id": str(uuid.uuid4()),
                "detail-type": "Scheduled Event",
                "source": "aws.scheduler",
                "account": self.schedule.place.account,
                "time": _write_time(self.occurrence),
                "region": self.schedule.place.region,
                "resources": [self.schedule.arn],
                "detail": "{}",
            }
        )

    def _fail(self, code: str, message: str, *, may_pass: bool) -> None:
        self._code, self.error, self._may_pass = code, message, may_pass
        self._count("TargetErrorCount")
        _log.warning("schedule %s, attempt %d: %s", self.schedule.arn, self.attempts, message)

    def _count(self, name: str) -> None:
        place, group = self.schedule.place, self.schedule.key[0]
        dimensions = {"ScheduleGroup": group}
        Metric(place.account, place.region, "AWS/Scheduler", name, dimensions).record(1)

    def _exhausted(self) -> str:
        """Return the setting of the retry policy that allows no further attempt, if one does."""
        policy = self.schedule.target["RetryPolicy"]
        if self.attempts > policy["MaximumRetryAttempts"]:
            return "MaximumRetryAttempts"
        age = (datetime.now(UTC) - self.occurrence).total_seconds()
        return "MaximumEventAgeInSeconds" if age > policy["MaximumEventAgeInSeconds"] else ""

    def _send_dead_letter(self, exhausted: str) -> None:
        queue = self.schedule.target.get("DeadLetterConfig", {}).get("Arn")
        if queue is None:
            self._count("InvocationDroppedCount")
            return
        attributes = {
            "ERROR_CODE": self._code,
            "ERROR_MESSAGE": str(self.error),
            "EXECUTION_ID": self.execution_id,
            "EXHAUSTED_RETRY_CONDITION": exhausted,
            "IS_PAYLOAD_TRUNCATED": "false",
            "RETRY_ATTEMPTS": str(self.attempts - 1),
            "SCHEDULED_TIME": _write_time(self.occurrence),
            "SCHEDULE_ARN": self.schedule.arn,
            "TARGET_ARN": self.schedule.target["Arn"],
        }
        given = {
            name: {"DataType": "String", "StringValue": value}
            for name, value in attributes.items()
            if value
        }
        try:
            self._open_client("sqs", queue).send_message(
                QueueUrl=queue_url(queue), MessageBody=self._input(), MessageAttributes=given
            )
        except (BotoCoreError, ClientError) as error:
            _log.warning("schedule %s: no dead letter was sent: %s", self.schedule.arn, error)


def _write_time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
