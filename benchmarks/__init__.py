"""Measurements of speed and strength; see ``python -m benchmarks --help``."""
