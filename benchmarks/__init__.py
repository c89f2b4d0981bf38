"""Benchmarks: every speed claim as a ratio measured in one run, beside the limit it is compared with."""
