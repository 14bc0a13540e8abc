"""Answers in pages are read to the end, also those that boto3 has no paginator for."""

from __future__ import annotations

from typing import Any

from penstock.aws import ask_all_pages


class _Zones:
    """A client of Route 53 with three pages of zones."""

    def can_paginate(self, operation: str) -> bool:
        return False

    def list_hosted_zones_by_vpc(self, VPCId: str, NextToken: str = "0") -> dict[str, Any]:
        page = int(NextToken)
        more = {"NextToken": str(page + 1)} if page < 2 else {}
        return {"HostedZoneSummaries": [f"{VPCId}-{page}"], "MaxItems": "1"} | more


def test_pages_without_a_paginator_are_joined() -> None:
    answer = ask_all_pages(_Zones(), "list_hosted_zones_by_vpc", VPCId="v")

    assert answer["HostedZoneSummaries"] == ["v-0", "v-1", "v-2"]
