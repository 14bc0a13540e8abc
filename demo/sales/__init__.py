"""The demo of sales: JSON, windows, and Avro through Apicurio, with Spark in this process."""
