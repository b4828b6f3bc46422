"""The stages of the workflow: one module each, with one function ``run``.

A stage reads the products of earlier stages, checked against their manifests, writes its own products and finally its
own manifest.  The ``Snakefile`` gives their order.

Modules: Besides the stages: ``directories`` (of results), ``stage_sets`` (which stages share one, with their products),
``strategy_store`` (which has a run's strategies), ``stage_context`` (manifests, locks, measurements), ``engines``
(opened from products), ``saved_rounds`` (of the double oracle), ``equilibrium_choice`` (what ends "finish"),
``comparison`` (other runs), ``preparation`` (of missing structures), ``staleness`` (why a stage must run),
``normal_form`` and ``normal_solve`` (of settings), ``product_check`` (of products, without reading all), ``decisions``
(which stages Snakemake runs, and the run's locks), ``provenance`` (digests of sources, fingerprints), ``memory_plan``
(memory and disk of a run), ``budgets`` (early refusal), ``snapshots`` (of the solver), ``compilation`` (once; by the
program ``kernel_calls``), ``fsck`` (all checked, and the digest of a run), ``path_check`` (of paths for Snakemake).
"""

STAGES = ("enumerate", "index", "solve", "finish", "evaluate", "export", "report")
UNLISTED_STAGES = ("finish", "evaluate", "report")
"""The stages of a game whose infosets are not listed."""
DEFAULT_RUN = "0b4c5042a2939d89a344f95cdf0920d2"
"""The digest of the run of ``config.yaml`` as it is, with the versions of ``envs/requirements.txt`` on x86-64."""
