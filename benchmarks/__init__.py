"""What is timed; ``python -m benchmarks --help`` tells how to run it."""
