"""Lineage: from producers over schema versions and topics to the columns of tables."""
