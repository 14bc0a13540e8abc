"""The limit of functions that run at once in an account, and what may be reserved of it.

An account begins with the limit of a new one. Only reservations are judged by it: functions that
run at once are not counted.
"""

from __future__ import annotations

from typing import Any

from moto.awslambda.models import lambda_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.quotas import CONCURRENT_EXECUTIONS, QuotaValues

_UNRESERVED = 100  # what always stays unreserved, all of it in an account with less


@operation("lambda", "PutFunctionConcurrency")
def put_function_concurrency(call: Call) -> HttpAnswer:
    """Reserve some of the account's limit for a function, if enough stays unreserved."""
    limit = call.cloud.state(QuotaValues).of(call.account, CONCURRENT_EXECUTIONS)
    least = min(_UNRESERVED, limit)
    name = call.params["FunctionName"].rpartition(":")[2]
    rest = limit - _sum_reserved(call, without=name)
    wanted = int(call.params["ReservedConcurrentExecutions"])
    if wanted > 0 and rest - wanted < least:
        raise AwsError(
            "InvalidParameterValueException",
            "Specified ReservedConcurrentExecutions for function decreases account's "
            f"UnreservedConcurrentExecution below its minimum value of [{least}].",
        )
    return call.forward()


@operation("lambda", "GetAccountSettings")
def get_account_settings(call: Call) -> dict[str, Any]:
    """Return the account's limits and use; code has no limit here."""
    functions = list(lambda_backends[call.account][call.region].list_functions())
    limit = call.cloud.state(QuotaValues).of(call.account, CONCURRENT_EXECUTIONS)
    size = sum(function.code_size for function in functions)
    return {
        "AccountLimit": {
            "TotalCodeSize": 80_530_636_800,
            "CodeSizeUnzipped": 262_144_000,
            "CodeSizeZipped": 52_428_800,
            "ConcurrentExecutions": limit,
            "UnreservedConcurrentExecutions": limit - _sum_reserved(call),
        },
        "AccountUsage": {"TotalCodeSize": size, "FunctionCount": len(functions)},
    }


def _sum_reserved(call: Call, without: str = "") -> int:
    functions = lambda_backends[call.account][call.region].list_functions()
    return sum(
        int(each.reserved_concurrency or 0) for each in functions if each.function_name != without
    )
