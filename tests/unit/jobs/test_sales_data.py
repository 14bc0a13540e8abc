"""Our own sales are the same on every machine, and have what the jobs must cope with."""

from __future__ import annotations

import csv
import hashlib
import io

from jobs.sales.generated import ALL_SALES, COLUMNS, FIRST_SALES, make_files


def test_the_files_never_change():
    text = "".join(make_files().values())

    assert hashlib.sha256(text.encode()).hexdigest() == (
        "0c7a7b46c6d9f8c65d90b70d2824862e7476bf160a6725f2900e37a2eec08504"
    )


def test_some_sales_have_no_city_and_some_no_region():
    files = make_files()
    first, later, regions = (
        list(csv.DictReader(io.StringIO(text), delimiter=separator))
        for text, separator in zip(files.values(), "||,", strict=True)
    )
    sales = first + later

    assert (len(first), len(sales)) == (FIRST_SALES, ALL_SALES)
    assert len({sale["payment_id"] for sale in sales}) == ALL_SALES
    assert tuple(sales[0]) == COLUMNS
    assert any(sale["city"] == sale["district"] == "" for sale in sales)
    assert any(sale["city"] and not sale["district"] for sale in sales)
    assert {sale["country"] for sale in sales} - {row["country"] for row in regions} == {
        "Atlantis", "Ruritania",
    }  # fmt: skip
