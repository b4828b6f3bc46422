"""Solving and judging: update rules, the loop over iterations, best responses, exploitability."""
