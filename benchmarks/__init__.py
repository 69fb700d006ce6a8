"""Measurements that print a table and write JSON: `python -m benchmarks.throughput`, `… .training_speed`."""
