"""Rows into Iceberg and Parquet: columns, markers, maintenance."""
