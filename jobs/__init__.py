"""Programs of Spark jobs, and the package of those that share code."""
