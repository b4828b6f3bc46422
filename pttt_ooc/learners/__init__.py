"""Every algorithm that the course names, on one axis: exact NashConv.

Learners that use exact gradients are in the folder exact/, learners that play games in sampled/, and learners with
networks, which need the extra ``deep``, in deep/.

Modules: ``learning_game``: gradients, best responses and values of one game. ``learner``: the interface of an
algorithm. ``catalogue``: the algorithms by name, and the section of the configuration. ``loop``: evaluations,
checkpoints, stopping. ``runs``: runs on disk. ``report``: the page that compares runs, with sentences about them.
``commands``: the command line.
"""
