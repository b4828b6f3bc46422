"""Every algorithm that the course names, on one axis: exact exploitability.

Learners that use exact gradients are in the folder exact/, learners that play games in sampled/, and learners with
networks, which need the extra ``deep``, in deep/.

Modules: ``learning_game``: one game's index and engine, and what learners make of them. ``learner``: the verbs of an
algorithm. ``catalogue``: the algorithms by name. ``loop``: evaluations, saving, stopping. ``checkpoints``: through the
core's commits. ``runs``: runs on disk. ``settings``: the section of the configuration. ``findings``: what several runs
show, as sentences. ``report``: the page that compares them. ``commands``: the command line. ``wing``: its
description.
"""
