"""Players stronger than those of the reports, and engines of other people.

``weights``: files of learnt weights.  ``evaluations``: those of Ultimate and its networks, some of them shipped, and
the training of weights.  ``tuned``: alpha-beta as strong programs do it.  ``mcts``: Monte Carlo tree search.
``strong``: the strong player of Extreme.  ``patterns``: k-in-a-row by learnt patterns on lines.  ``ultimate_training``:
a program that trains the networks of Ultimate in the package.  ``line_process``: a process that is asked by lines, and
its processor time; ``engine``: programs of other people.
"""
