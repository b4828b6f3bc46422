"""Exact equilibria without listing the game: the lazy double oracle.

Modules: ``oracle``: the rounds, and the proven interval. ``rule_tables``: a game's rules and symmetries as tables.
``pure_rule``: what a player does outside of their plan. ``sparse_plan``: the sequences that a player may use.
``complete_strategy``: plan and rule together, at one infoset and at all infosets of an index. ``places``: a plan's
infosets in an index. ``warm_start``: a restricted game from a solution. ``plan_evaluation``, ``infoset_values``: values
of two plans, from the beginning and at one infoset. ``clairvoyance``: upper bounds for a best response;
``transpositions``: infosets with the same future. ``opponent_positions``: what the opponent may have at an infoset.
``lazy_response``: the best response; ``response_search``: its division into subtrees, for threads or other processes.
``restricted_histories``, ``restricted_matching``, ``sequence_form``, ``restricted_program``, ``restricted_interior``,
``restricted_nearby``: the restricted game, its approximate solution, and exact ones, at a vertex, inside, and near the
approximate one; ``program_file``: its program for other solvers. ``memory_budget``: what a round needs.
``saved_state``: a run that goes on after a kill. ``state_arrays``: a state as named arrays.
"""
