"""Measurements of speed and strength; ``python -m benchmarks --help`` explains how to run them."""
