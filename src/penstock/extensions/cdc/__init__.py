"""Change data capture: tables that are equal to those of a PostgreSQL database, from Debezium."""
