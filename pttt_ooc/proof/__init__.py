"""Exact values as fractions, and certificates that prove them."""
