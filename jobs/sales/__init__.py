"""Sales by country, region and sliding window: batch and streaming jobs over one topic."""
