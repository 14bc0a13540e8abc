"""Write rows to Iceberg: columns, markers, maintenance."""
