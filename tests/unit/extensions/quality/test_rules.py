"""The rules, by the figures of a check alone."""

from __future__ import annotations

import pytest

from penstock.extensions.quality import ColumnNulls, Limits
from penstock.extensions.quality._rules import Earlier, Figures, check_rules


@pytest.mark.parametrize(
    ("shares", "detail"),
    [
        ({"*": 0.6}, "no column is null too often"),
        ({"*": 0.4}, "note is null in 50.00%, limit 40.00%"),
        ({"*": 0.6, "_before_1_x": 0.9}, "_before_1_x is null in 100.00%, limit 90.00%"),
    ],
)
def test_a_share_for_the_other_columns_is_none_for_those_of_penstock(
    shares: dict[str, float], detail: str
) -> None:
    # The column with the values from before it was widened is never written again.
    columns = (
        ColumnNulls("note", "string", 10, 5, 0),
        ColumnNulls("_before_1_x", "int", 10, 10, 0),
    )
    figures = Figures((), columns, (), (), (), (), Earlier(), has_registry=False, has_kafka=False)

    found = {each.rule: each for each in check_rules(figures, Limits(null_shares=shares))}

    assert found["null-share"].detail == detail
