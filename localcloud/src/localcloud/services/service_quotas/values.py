"""Service Quotas: the values of the quotas that localcloud holds; it knows no others.

Service Quotas API Reference, GetServiceQuota: a quota without an applied value is not retrieved. It
has the default that AWS publishes.
"""

from __future__ import annotations

from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.door.pages import Pages
from localcloud.quotas import QUOTAS, Quota, QuotaValues

_INVALID = "IllegalArgumentException"
_PAGES = Pages(
    "NextToken", "MaxResults", 100,
    "InvalidPaginationTokenException", "Invalid pagination token was used.",
)  # fmt: skip


@operation("service-quotas", "GetServiceQuota")
def get_service_quota(call: Call) -> dict[str, Any]:
    """Return the value that AWS has applied to an account."""
    quota = _find_quota(call)
    applied = _applied(call, quota)
    if applied is None:
        raise _missing(f"{quota.name} has no applied value; its default holds")
    return {"Quota": _show(call, quota, applied)}


@operation("service-quotas", "ListServiceQuotas")
def list_service_quotas(call: Call) -> dict[str, Any]:
    """List the values of a service's quotas that AWS has applied to an account."""
    page, more = _cut_page(call)
    values = [(each, _applied(call, each)) for each in page]
    shown = [_show(call, each, value) for each, value in values if value is not None]
    return {"Quotas": shown, **more}


@operation("service-quotas", "GetAWSDefaultServiceQuota")
def get_default_service_quota(call: Call) -> dict[str, Any]:
    """Return the value that AWS publishes."""
    quota = _find_quota(call)
    return {"Quota": _show(call, quota, quota.default)}


@operation("service-quotas", "ListAWSDefaultServiceQuotas")
def list_default_service_quotas(call: Call) -> dict[str, Any]:
    """List the values of a service's quotas that AWS publishes."""
    page, more = _cut_page(call)
    return {"Quotas": [_show(call, each, each.default) for each in page], **more}


def _cut_page(call: Call) -> tuple[list[Quota], dict[str, str]]:
    check_params(call, _INVALID)
    return _PAGES.cut(call, _of_service(call))


def _find_quota(call: Call) -> Quota:
    check_params(call, _INVALID)
    code = call.params["QuotaCode"]
    found = next((each for each in _of_service(call) if each.code == code), None)
    if found is None:
        service = call.params["ServiceCode"]
        raise _missing(f"localcloud holds no quota {code} of {service}")
    return found


def _of_service(call: Call) -> list[Quota]:
    service = call.params["ServiceCode"]
    found = [each for each in QUOTAS if each.service == service]
    if not found:
        raise _missing(f"localcloud holds no quota of {service}")
    return found


def _applied(call: Call, quota: Quota) -> int | None:
    return call.cloud.state(QuotaValues).applied(call.account, quota)


def _missing(said: str) -> AwsError:
    return AwsError("NoSuchResourceException", said)


def _show(call: Call, quota: Quota, value: int) -> dict[str, Any]:
    place = f"arn:aws:servicequotas:{call.region}:{call.account}"
    return {
        "ServiceCode": quota.service,
        "ServiceName": quota.service_name,
        "QuotaArn": f"{place}:{quota.service}/{quota.code}",
        "QuotaCode": quota.code,
        "QuotaName": quota.name,
        "Value": float(value),
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
        "QuotaAppliedAtLevel": "ACCOUNT",
    }
