"""Exploitability of anybody's agent: exact, or estimated from games.

Modules: ``agents``: agents by their names, and what they are. ``answers``: what an agent answers for blocks of
infosets. ``scores``: an agent's strategy, block by block, and its exact score. ``players``: agents that can only be
played, one attempt at a time. ``games``: what they lose in games against an equilibrium, by AIVAT.
"""
