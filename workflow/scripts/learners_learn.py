"""Let one learner learn: ``learn.json`` in its directory."""

from pathlib import Path

from pttt_ooc.learners.loop import Ends
from pttt_ooc.learners.runs import LearnerRun, learn
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    settings = dict(snakemake.params.run)
    ends = Ends(max_minutes=settings.pop("max_minutes"), max_iterations=settings.pop("max_iterations"))
    run = LearnerRun(snakemake.params.game, snakemake.params.symmetry, **settings)
    data = Path(snakemake.output.manifest).parents[4]
    learn(run, ends, data, threads=snakemake.threads)
