"""Plain Parquet: files of rows and their Glue table, for readers that do not support Iceberg."""
