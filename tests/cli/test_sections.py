"""Files of the configuration: defaults, the core's keys beside the wings' sections, and the schema for editors."""

import json
from pathlib import Path
from typing import Literal

import jsonschema
import pytest
import yaml
from pydantic import Field

from pttt_ooc.cli.sections import SECTIONS, check_file, load_file, schema_text, whole_model
from pttt_ooc.config import Config, Section, Whole
from pttt_ooc.errors import ConfigError

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "config.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]


class Toys(Section):
    """A wing's section."""

    colour: Literal["red", "green"] = Field(default="red", description="Of the toys.")
    count: Whole = Field(default=3, description="Of toys.")


MADE_UP = {"toys": Toys}


def test_the_file_shows_the_defaults():
    core, wings = load_file(ROOT / "config.yaml")
    assert core == Config()
    assert wings == {key: model() for key, model in SECTIONS.items()}


def test_every_key_is_in_the_file():
    content = yaml.safe_load((ROOT / "config.yaml").read_text())
    expected = whole_model()().model_dump(mode="json")
    assert content.keys() == expected.keys()
    for section in ("solve", "export", "report", *SECTIONS):
        assert content[section].keys() == expected[section].keys()


@pytest.mark.slow_but_one
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_schema_agrees_with_the_files(file):
    load_file(file)
    schema = json.loads((ROOT / "workflow/schemas/config.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(file.read_text()), schema)


def test_committed_schema_is_the_one_of_the_models():
    committed = (ROOT / "workflow/schemas/config.schema.json").read_text(encoding="utf-8")
    command = "python -m pttt_ooc.cli.sections > workflow/schemas/config.schema.json"
    assert committed == schema_text(), f"write it anew: {command}"


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("content", "allowed"),
    [
        ({"solve": {"restart_average": 1}}, {"solve": {"restart_average": 1.01}}),
        ({"solve": {"commit_seconds": -0.1}}, {"solve": {"commit_seconds": 0}}),
        ({"solve": {"snapshot_every": 1}}, {"solve": {"snapshot_every": 1.01}}),
        ({"extreme": {"marks": [30, 10, -1]}}, {"extreme": {"marks": [30, 10, 0]}}),
        ({"extreme": {"marks": [1_000_001, 10, 1]}}, {"extreme": {"marks": [1_000_000, 10, 1]}}),
    ],
)
def test_the_schema_has_the_bounds_of_the_models(content, allowed):
    schema = json.loads(schema_text())
    check_file(allowed)
    jsonschema.validate(allowed, schema)
    with pytest.raises(ConfigError):
        check_file(content)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, schema)


def keywords(schema):
    """The keywords of a JSON schema and of the schemas within it."""
    found = set(schema)
    for key, value in schema.items():
        inner = (
            value.values()
            if key in ("properties", "patternProperties", "$defs")
            else value
            if isinstance(value, list)
            else [value]
        )
        for one in inner if key not in ("default", "enum", "const", "examples", "required") else []:
            found |= keywords(one) if isinstance(one, dict) else set()
    return found


def test_validators_know_all_keywords_of_the_schema():
    annotations = {"$schema", "$defs", "title", "description", "default"}
    assert keywords(json.loads(schema_text())) <= annotations | set(jsonschema.Draft202012Validator.VALIDATORS)


def test_a_wings_section_is_taken_out_of_the_cores_configuration():
    core, wings = check_file({"game": "mini-2x3k2-abrupt", "toys": {"count": 7}}, sections=MADE_UP)
    assert type(core) is Config and core == Config(game="mini-2x3k2-abrupt")
    assert wings == {"toys": Toys(count=7)}
    assert check_file({}, sections=MADE_UP) == (Config(), {"toys": Toys()})


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"slove": {}}, "there is no key slove (did you mean solve?)."),
        ({"toy": {}}, "there is no key toy (did you mean toys?)."),
        (
            {"cuont": 1},
            "there is no key cuont; choose from game, symmetry, run, memory_mb, listed, solve, finish, export, report, "
            "toys.",
        ),
        ({"count": 1}, "there is no key count (did you mean toys.count, in the section toys?)."),
        (
            {1: 2},
            "there is no key 1; choose from game, symmetry, run, memory_mb, listed, solve, finish, export, report, "
            "toys.",
        ),
        ({"toys": {"cuont": 1}}, "there is no key toys.cuont (did you mean count?)."),
        ({"toys": {"count": 0}}, "toys.count is 0, but must be greater than or equal to 1."),
        ({"toys": {"colour": "gren"}}, "toys.colour is 'gren', but must be one of red, green (did you mean green?)."),
        ({"toys": None}, "toys is empty, but must be a section: keys with values, indented below it."),
        ({"export": {"infosets_0": "no.txt"}, "toys": {}}, "export.infosets_0 is 'no.txt', but there is no such file."),
        ([1], "there are no keys with values, but [1]."),
    ],
)
def test_refusals_of_a_file_with_a_wings_section(content, sentence):
    with pytest.raises(ConfigError) as caught:
        check_file(content, sections=MADE_UP)
    assert str(caught.value) == f"config.yaml: {sentence}"


AGENTS = {"agents": ["random", "random"]}


@pytest.mark.parametrize(
    ("content", "end"),
    [
        (
            {"arena": {"experiments": {"mine": {"claim": "x", **AGENTS}}, "round_robins": {"mine": AGENTS}}},
            ", but must be experiments, round robins and trainings with different names: mine is both.",
        ),
        (
            {"arena": {"experiments": {"mine": {"claim": "x", "values": [1, 2], **AGENTS}}}},
            ", but must be an experiment with both values and {} in the text of an agent, or with neither.",
        ),
    ],
)
def test_refusals_of_keys_that_conflict(content, end):
    with pytest.raises(ConfigError) as caught:
        check_file(content)
    assert str(caught.value).endswith(end)


def test_a_section_that_no_wing_owns_is_refused():
    with pytest.raises(ConfigError, match="there is no key toys;"):
        check_file({"toys": {"count": 7}}, sections={})


def test_the_schema_covers_a_wings_section():
    schema = json.loads(schema_text(MADE_UP))
    jsonschema.validate({"game": "pttt-abrupt", "toys": {"count": 3}}, schema)
    for wrong in ({"toys": {"count": 0}}, {"toys": {"cuont": 1}}, {"toy": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("solve: [", "is not YAML (line 1"),
        ("a: b: c", "is not YAML (line 1, column 5)"),
        ("- 1", "no keys with values"),
        (f"solve: {{max_iterations: {'9' * 5000}}}", "cannot be read: a number has thousands of digits"),
        ("report: {title: 2024-99-99}", "a date does not exist"),
        ("solve:\n  alpha: 1\n  alpha: 2\n", "(line 3, column 3): the key alpha is here a second time."),
        ("solve: {}\nsolve: {}\n", "(line 2, column 1): the key solve is here a second time."),
        ("solve:\n\talpha: 1\n", "(line 2, column 1): a tab stands here; indent with spaces."),
        ("&a [*a]", "but a list that holds itself."),
        ("a: " + "[" * 3000, "nested too deeply."),
        ("\0", "a character that YAML does not allow."),
    ],
)
def test_files_that_are_no_configuration(tmp_path, text, complaint):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"mine\.yaml") as caught:
        load_file(file)
    assert complaint in str(caught.value) and "\n" not in str(caught.value)


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_file(tmp_path / "none.yaml")
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    assert load_file(tmp_path / "empty.yaml")[0] == Config()
