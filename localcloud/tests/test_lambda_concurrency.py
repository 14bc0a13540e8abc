"""The limits of reserved concurrency: an account keeps some for its other functions."""

from __future__ import annotations

import pytest

from localcloud.testing import deploy
from tests.refusals import refusal

_ACCOUNT = "333333333334"


@pytest.fixture
def functions(client):
    return client("lambda", account=_ACCOUNT)


@pytest.fixture
def name(client):
    return deploy(lambda service, **who: client(service, **{"account": _ACCOUNT, **who}))


def _refused(functions, name, reserved):
    return refusal(
        functions.put_function_concurrency,
        FunctionName=name,
        ReservedConcurrentExecutions=reserved,
    )


def _unreserved(functions):
    return functions.get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"]


@pytest.mark.parametrize(("limit", "most"), [(10, 0), (50, 0), (1_000, 900)])
def test_some_concurrency_stays_unreserved(functions, name, set_limit, limit, most):
    set_limit(_ACCOUNT, limit)
    said = (
        "InvalidParameterValueException",
        "Specified ReservedConcurrentExecutions for function decreases account's "
        f"UnreservedConcurrentExecution below its minimum value of [{limit - most}].",
    )

    assert _refused(functions, name, most + 1) == said
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=most)

    assert _unreserved(functions) == limit - most
    functions.delete_function(FunctionName=name)


def test_reserves_are_added_up_and_replaced(client, functions, name, set_limit):
    set_limit(_ACCOUNT, 110)
    other = deploy(lambda service, **who: client(service, **{"account": _ACCOUNT, **who}))
    reserve = functions.put_function_concurrency
    reserve(FunctionName=name, ReservedConcurrentExecutions=10)

    assert _refused(functions, other, 1)[0] == "InvalidParameterValueException"
    reserve(FunctionName=name, ReservedConcurrentExecutions=9)
    reserve(FunctionName=other, ReservedConcurrentExecutions=1)

    settings = functions.get_account_settings()
    assert settings["AccountUsage"]["FunctionCount"] >= 2
    assert _unreserved(functions) == 100


def test_a_new_account_has_a_limit_of_ten(client):
    functions = client("lambda", account="333333333335")

    assert functions.get_account_settings()["AccountLimit"]["ConcurrentExecutions"] == 10
