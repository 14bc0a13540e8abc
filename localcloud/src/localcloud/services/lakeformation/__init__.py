"""Lake Formation: settings, grants, registered locations and data filters of a catalog.

The decisions by them are made in `localcloud.identity`: for the Glue catalog in `catalog_access`,
for queries of Athena in `data_access`.
"""

from __future__ import annotations

from localcloud.services.lakeformation import filters, grants, locations, settings

__all__ = ["filters", "grants", "locations", "settings"]
