"""The stages of the workflow: one module each, with one function ``run``.

A stage reads the products of earlier stages, checked against their manifests, and leaves its own
products and, last of all, its own manifest.  The ``Snakefile`` says which stage follows which.
"""

STAGES = ("enumerate", "index", "solve", "evaluate", "export", "report")
