# Another workflow that uses ours: it scores the strategy of player 0 in a zip against the solution, which is made first.
#   snakemake --snakefile examples/score.smk --cores 2 --config strategy=mine.zip
# Elsewhere write github("OWNER/pttt-ooc", path="workflow/Snakefile", tag="v0.2.0") in place of the path.
module phantom:
    snakefile:
        "../workflow/Snakefile"
    config:
        {"game": "mini-2x3k2-abrupt"}


use rule * from phantom as phantom_*


rule score:
    default_target: True
    input:
        strategy=config["strategy"],
        solved="data/mini-2x3k2-abrupt/full/evaluate.json",
    output:
        "score.json",
    shell:
        "pttt evaluate {input.strategy} data/mini-2x3k2-abrupt/full --json > {output}"
