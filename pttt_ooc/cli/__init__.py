"""The command ``pttt``."""
