"""AWS Glue: moto keeps the catalog; the schema registry and crawlers are localcloud's."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.catalog_access import check_catalog, settle_catalog
from localcloud.services.glue.iam_resources import list_resources, list_roles

SERVICE = Service(
    "glue",
    endpoint="glue",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    operations=("catalog", "crawlers", "registry"),
    passed_roles=list_roles,
    check=check_catalog,
    settle=settle_catalog,
    status=("crawlers",),
    one_at_a_time=True,
    moto=Moto(
        keeps=(
            "BatchCreatePartition BatchUpdatePartition CreateDatabase CreatePartition "
            "UpdateDatabase UpdatePartition"
        ),
    ),
    ignored={
        "CreateCrawler": "CatalogId",
        "CreateTable": "PartitionIndexes TransactionId",
        "GetSchemaVersionsDiff": "SchemaDiffType",
        "UpdateCrawler": "CatalogId",
        "UpdateTable": "Force TransactionId UpdateOpenTableFormatInput ViewUpdateAction",
    },
)
