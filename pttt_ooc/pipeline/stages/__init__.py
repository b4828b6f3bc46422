"""The stages of the workflow: one module each, with one function ``run``.

A stage reads the products of earlier stages, checked against their manifests, writes its own products and finally its
own manifest.  The ``Snakefile`` gives their order.

Modules: Besides the stages: ``directories`` (of results), ``stage_context`` (manifests, locks, measurements),
``engines`` (opened from products), ``saved_rounds`` (of the double oracle), ``strategy_store`` (the strategies of a
run), ``choice`` (among equilibria),
``comparison`` (other runs), ``preparation`` (of missing structures), ``staleness`` (why a stage must run),
``normal_form`` and ``normal_solve`` (of settings), ``product_check`` (of products, without reading all), ``decisions``
(which stages Snakemake runs), ``run_start`` (locks of a run), ``provenance`` (digests of sources, fingerprints),
``planning`` (memory and disk of a run), ``budgets`` (early refusal), ``snapshots``
(of the solver), ``compilation`` (once; by the program ``kernel_calls``), ``fsck``, ``stage_sets`` (which
stages share a directory, with their products), ``verification`` (the digest of a run), ``path_check`` (of paths for
Snakemake).
"""

STAGES = ("enumerate", "index", "solve", "finish", "evaluate", "export", "report")
UNLISTED_STAGES = ("finish", "evaluate", "report")
"""The stages of a game whose infosets are not listed."""
