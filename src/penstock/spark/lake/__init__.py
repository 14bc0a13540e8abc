"""Write rows to Iceberg and Parquet: columns, markers, maintenance."""
