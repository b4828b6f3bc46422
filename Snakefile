# The workflow, for `snakemake --cores 16`.  Its rules are in workflow/Snakefile, where the catalogue of workflows and other
# people's Snakefiles look for them.
include: "workflow/Snakefile"


workflow.default_target = "all"  # Snakemake takes none from a file that is included
