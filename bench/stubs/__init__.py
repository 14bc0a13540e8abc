"""Other ends for benchmarks, in processes of their own: what they use is nobody's figure."""
