"""Rows of DynamoDB's tables."""
