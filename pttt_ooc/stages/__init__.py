"""The stages of the workflow: one module each, with one function ``run``.

A stage reads the products of earlier stages, checked against their manifests, and leaves its own
products and, last of all, its own manifest.  The ``Snakefile`` says which stage follows which.

Modules: Beside the stages: ``directories`` (where results are), ``stage_context``, ``engines``, ``comparison`` (other
runs), ``preparation`` (makes what is missing), ``staleness`` (is what is there what is asked for?), ``normal_form`` and
``normal_solve`` (of settings), ``product_check`` (products that need not be read again), ``decisions`` (of what
Snakemake runs), ``run_start`` (of a run), ``provenance`` (digests of sources, fingerprints), ``planning`` (what a run
needs), ``rates`` (of this machine), ``budgets`` (refused at once), ``snapshots`` (of the solver), ``compilation``
(once; ``kernel_calls`` is the program that does it), ``fsck``, ``verification`` (the digest of a run), ``path_check``
(paths that Snakemake copes with).
"""

STAGES = ("enumerate", "index", "solve", "evaluate", "export", "report")
