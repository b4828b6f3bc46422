"""Exploitability of anybody's agent: exact, or estimated from games.

Modules: ``agents``: agents by their names, and what they are. ``checkpoints``: agents in files of other people's
programs. ``agent_answers``: what an agent answers for blocks of infosets. ``recurrent``: agents with a memory, asked in
depth-first order. ``scores``: an agent's strategy and its exact score. ``opponents``: known strategies, listed or not,
with the values that attempts are measured by. ``matches``: records of matches, and what each attempt lost. ``players``:
agents that can only be played, one attempt at a time. ``aivat``: what they lose in games against an equilibrium.
``replays``: strangers' records, as other programs write them; ``replay_judge``: what is true about them.
``ladder``: the rows of the ladder, and an agent's place. ``agents_table``: these rows and those of agents
that play, in one table. ``page``: all of this on a page, and where the agent loses.
"""
