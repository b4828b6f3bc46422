"""Exact exploitability of anybody's agent.

Modules: ``agents``: agents by their names, and what they answer. ``scores``: an agent's strategy, block by block, and
its score.
"""
