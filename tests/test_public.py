"""Files for the public: what they say of the project is so."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import pttt_ooc
from pttt_ooc.pipeline.stages import DEFAULT_RUN

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")  # the commit of a version
CONDA = {"isal": "python-isal", "matplotlib": "matplotlib-base"}  # packages of other names there


def steps(file):
    for job in yaml.safe_load(file.read_text())["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda f: f.stem)
def test_workflows_call_what_there_is(file):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    found = list(steps(file))
    assert all(("uses" in step) != ("run" in step) for step in found)
    for line in re.findall(r"\buses: (.*)", file.read_text()):
        assert PINNED.fullmatch(line), f"not pinned: {line}"
    for step in found:
        command = step.get("run", "")
        assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= targets
        for path in re.findall(r"(?:\s|^)(tests/\S+|\.ci/\S+)", command):
            assert (ROOT / path).exists(), path
        for extras in re.findall(r"'\.\[([a-z,]+)\]'", command):
            assert set(extras.split(",")) <= {*PROJECT["optional-dependencies"]}


def test_workflows_test_all_versions_of_python_that_are_promised():
    [matrix] = [job["strategy"]["matrix"] for job in jobs("test").values() if "strategy" in job]
    promised = {text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)}
    assert promised <= {*matrix["python"]}
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"


def jobs(name):
    return yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())["jobs"]


def test_the_release_reads_the_version_as_it_is(monkeypatch, capsys):
    [step] = [
        one for one in steps(ROOT / ".github/workflows/release.yml") if one.get("name") == "The tag is the version"
    ]
    program = re.search(r"python -c '([^']+)'", step["run"])[1]
    monkeypatch.chdir(ROOT)
    exec(program, {})
    assert capsys.readouterr().out.strip() == pttt_ooc.__version__


def test_the_changelog_begins_with_this_version():
    number, dev, _ = pttt_ooc.__version__.partition(".dev")
    first = re.search(r"^## \[([\d.]+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first[1] == number
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert first[2] == ("unreleased" if dev else str(citation["date-released"]))


def test_the_conda_recipe_has_the_dependencies_of_the_project():
    text = (ROOT / "examples/deploy/conda/recipe.yaml").read_text()
    recipe = yaml.safe_load(re.sub(r"\$\{\{ (\w+) \}\}", r"\1", text))
    assert recipe["context"] == {"name": PROJECT["name"], "version": pttt_ooc.__version__}
    expected = [f"python {PROJECT['requires-python']}"]
    for line in PROJECT["dependencies"]:
        name, _, version = line.partition(">=")
        expected.append(f"{CONDA.get(name, name)} >={version}")
    assert recipe["requirements"]["run"] == expected
    assert recipe["build"]["python"]["entry_points"] == [f"{k} = {v}" for k, v in PROJECT["scripts"].items()]
    assert recipe["about"]["license"] == PROJECT["license"]


def test_hooks_and_forms_are_whole():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    dev = " ".join(PROJECT["optional-dependencies"]["dev"])
    for hook in hooks:
        tool = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert f"{tool}>=" in dev and {"id", "name", "language"} <= {*hook}
    for form in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        content = yaml.safe_load(form.read_text())
        if form.stem != "config":
            assert {"name", "description", "body"} <= {*content}
            assert len({part["id"] for part in content["body"]}) == len(content["body"])


def test_the_paper_has_what_the_journal_asks_for():
    paper = (ROOT / "docs/paper/paper.md").read_text()
    sections = re.findall(r"^# (.*)$", paper, re.MULTILINE)
    wanted = ["Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"]
    assert [*wanted, "Availability", "References"] == sections
    assert 750 <= len(paper.partition("# Summary")[2].split()) <= 1000
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} == {
        *yaml.safe_load(paper.split("---")[1])
    }
    assert f"Version {pttt_ooc.__version__.partition('.dev')[0]} " in paper


def test_the_paper_says_what_the_documentation_says():
    paper = (ROOT / "docs/paper/paper.md").read_text()
    cited = set(re.findall(r"@(\w+)\]", paper))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", (ROOT / "docs/paper/paper.bib").read_text(), re.MULTILINE))
    measured = (ROOT / "docs/lab/performance.md").read_text()
    names = ["pttt-abrupt", "pttt-classical", "dark-hex-3x3-abrupt", "dark-hex-3x3-classical"]
    rows = re.findall(r"^\| .+ \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$", paper, re.MULTILINE)
    for name, (histories, infosets, seconds) in zip(names, rows, strict=True):
        assert f"| `{name}` | {histories} | {infosets} |" in measured
        assert re.search(rf"^\| `{name}` \| .* \| {seconds} \|", measured, re.MULTILINE)
    for value in re.findall(r"\$(\d+/\d+)", paper):
        assert value in (ROOT / "README.md").read_text()
    for path in re.findall(r"`(?:python3? (?:-m )?)?((?:proof|examples)/[\w/]+\.py)", paper):
        assert (ROOT / path).exists()
    lines = len((ROOT / "examples/ppo.py").read_text().splitlines())
    assert f"PPO in {lines} lines" in paper


def test_the_workflow_catalogue_finds_what_it_looks_for():
    """Its conditions for "standardized usage", and `snakemake` in a clone runs the same rules."""
    settings = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert {"mandatory-flags", "software-stack-deployment", "report"} == {*settings}
    assert (ROOT / "workflow/Snakefile").exists()
    assert 'include: "workflow/Snakefile"' in (ROOT / "Snakefile").read_text()
    assert {file.suffix for file in (ROOT / "workflow/rules").iterdir() if file.is_file()} == {".smk"}
    assert {"snakemake", "workflow"} <= set(re.findall(r"\w+", (ROOT / "README.md").read_text().lower()))
    readme = (ROOT / "config/README.md").read_text()
    for text in (settings["mandatory-flags"]["desc"], readme):
        [extras] = re.findall(r'pip install\s+"pttt-ooc\[([\w,]+)\]"', text)
        assert {*extras.split(",")} <= {*PROJECT["optional-dependencies"]}
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    for keys, default in re.findall(r"^\| `([\w: ]+)` \| .* \| `?([\w.-]+)`? \|$", readme, re.MULTILINE):
        value = config
        for key in keys.split(": "):
            value = value[key]
        assert default in (str(value), "three"), keys


def test_the_root_is_one_screen():
    told = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    visible = {line.partition("/")[0] for line in told.splitlines() if not line.startswith(".")}
    assert len(visible) <= 20, sorted(visible)


def test_the_published_digest_is_that_of_the_default_run():
    """A test of the full game (`pytest -m full tests/pipeline/stages/test_budgets.py`) makes this run and compares."""
    assert DEFAULT_RUN in (ROOT / "CHANGELOG.md").read_text()
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        published = re.findall(r"\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{32}\b", page.read_text())
        assert {*published} <= {DEFAULT_RUN}, page
