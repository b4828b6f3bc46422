"""Rules of the games, as data: boards, winning sets, turn rules, setups.

Modules: ``game``: boards, winning sets, turn rule, symmetries, setup. ``connections``: Dark Hex. ``catalogue``: games
by name, their known counts and values. ``infoset_text``: infosets as text. ``information_state``:
infosets as OpenSpiel's tensors. ``play``: one history, attempt by attempt.
"""
