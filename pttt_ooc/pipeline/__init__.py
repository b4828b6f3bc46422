"""From a configuration to files and pages.

``files/``: the package's files and those for other programs.  ``show/``: output for people.  ``stages/``: the stages of
the workflow.  ``sweeps/``: many runs beside each other.  ``frontier/``: runs of games beyond enumeration.
"""
