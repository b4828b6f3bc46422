"""Games that are too large to be listed, solved round by round: a long run, its state on disk, and its page.

Modules: ``settings`` (the section of the configuration), ``pipeline`` (its stages in the workflow), ``run`` (the
rounds, which go on after a kill), ``report`` (the page: the proven interval over time), ``needs`` (what is known before
a run).

The method is :mod:`pttt_ooc.exact.double_oracle`, which keeps nothing but its state; the rest of a run is here.
"""
