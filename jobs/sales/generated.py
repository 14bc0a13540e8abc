"""A data set of sales for demos, documents and tests: the same rows on every machine.

It has 250 first sales, 1,800 later ones and a region for most countries. Some sales have no city or
district, and some countries have no region.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

COLUMNS: Final = (
    *("payment_id", "customer_id", "amount", "payment_date", "city", "district", "country"),
)
FIRST_SALES: Final = 250
ALL_SALES: Final = 2_050

# Countries by region, each with its weight and cities as "city/district".
_COUNTRIES: Final[Mapping[str, Mapping[str, tuple[int, Sequence[str]]]]] = {
    "Africa": {
        "Egypt": (22, ("Cairo/Cairo", "Giza/Giza")),
        "Ghana": (9, ("Accra/Greater Accra", "Kumasi/Ashanti")),
        "Kenya": (14, ("Nairobi/Nairobi", "Nakuru/Rift Valley")),
        "Morocco": (12, ("Fes/Fes-Meknes",)),
        "Namibia": (3, ("Windhoek/Khomas",)),
    },
    "Americas": {
        "Argentina": (24, ("Rosario/Santa Fe", "Salta/Salta")),
        "Brazil": (58, ("Curitiba/Parana", "Recife/Pernambuco", "Manaus/Amazonas")),
        "Canada": (33, ("Halifax/Nova Scotia", "Regina/Saskatchewan")),
        "Chile": (11, ("Arica/",)),
        "Peru": (17, ("Cusco/Cusco", "Trujillo/La Libertad")),
        "United States": (86, ("Tulsa/Oklahoma", "Boise/Idaho", "Albany/New York")),
    },
    "Asia": {
        "China": (121, ("Harbin/Heilongjiang", "Kunming/Yunnan", "Wuxi/Jiangsu")),
        "India": (118, ("Indore/Madhya Pradesh", "Kochi/Kerala", "Surat/Gujarat")),
        "Indonesia": (44, ("Medan/North Sumatra", "Malang/East Java")),
        "Japan": (63, ("Sendai/Miyagi", "Nagano/Nagano")),
        "Singapore": (8, ("/",)),
        "Vietnam": (19, ("Hue/Thua Thien", "Da Lat/Lam Dong")),
    },
    "Europe": {
        "Finland": (9, ("Turku/Southwest Finland",)),
        "France": (34, ("Lille/Nord", "Nantes/Loire-Atlantique")),
        "Germany": (47, ("Kassel/Hesse", "Bremen/Bremen", "Jena/Thuringia")),
        "Italy": (31, ("Lecce/Apulia", "Parma/Emilia-Romagna")),
        "Poland": (26, ("Lublin/Lublin", "Gdynia/Pomerania")),
        "Spain": (29, ("Vigo/Galicia", "Murcia/Murcia")),
    },
    "Oceania": {
        "Australia": (21, ("Hobart/Tasmania", "Cairns/Queensland")),
        "Fiji": (4, ("Suva/",)),
        "New Zealand": (10, ("Nelson/Nelson",)),
    },
    # Not in the file of regions.
    "": {
        "Atlantis": (7, ("/",)),
        "Ruritania": (15, ("Strelsau/Strelsau", "Zenda/")),
    },
}
_PRICES: Final = (("0.99", 6), ("2.99", 20), ("4.99", 30), ("6.50", 18), ("9.99", 9), ("11.25", 3))
_START: Final = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)


def make_files() -> dict[str, str]:
    """Return the text of each file by its name."""
    sales = make_sales()
    return {
        "sales_seed.csv": write_csv(COLUMNS, sales[:FIRST_SALES]),
        "sales_incremental.csv": write_csv(COLUMNS, sales[FIRST_SALES:]),
        "sales_regions.csv": write_csv(("country", "region"), make_regions(), ","),
    }


def make_sales() -> list[tuple[str, ...]]:
    """Return all sales, in the order of their messages."""
    random = Random(2050)  # noqa: S311 - the same rows each time
    places = [
        (country, city, weight)
        for countries in _COUNTRIES.values()
        for country, (weight, cities) in countries.items()
        for city in cities
    ]
    chosen = random.choices(places, [weight for *_, weight in places], k=ALL_SALES)
    amounts = random.choices(*zip(*_PRICES, strict=True), k=ALL_SALES)
    # Later messages do not always have greater ids.
    ids = random.sample(range(30_000, 30_000 + 3 * ALL_SALES), ALL_SALES)
    rows = []
    for at, ((country, city, _), amount, payment_id) in enumerate(
        zip(chosen, amounts, ids, strict=True)
    ):
        paid = _START + timedelta(seconds=at * 37)
        customer = str(random.randint(1, 600))
        rows.append((str(payment_id), customer, amount, str(paid), *city.split("/"), country))
    return rows


def make_regions() -> list[tuple[str, str]]:
    """Return the country and region of each country that has one."""
    return sorted(
        (country, region)
        for region, countries in _COUNTRIES.items()
        if region
        for country in countries
    )


def write_csv(
    columns: Sequence[str], rows: Iterable[Sequence[object]], separator: str = "|"
) -> str:
    """Return the text of a CSV file with a header."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue()
