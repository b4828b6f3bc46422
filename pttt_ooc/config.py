"""The core's configuration: keys, defaults, allowed values, and error messages for refused values.

Wings have sections of their own in the same file; ``cli/sections.py`` composes them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from pttt_ooc.errors import ConfigError, GameError, did_you_mean
from pttt_ooc.games.rules.catalogue import GAMES, check_listable, find_game, named_game, tic_tac_toe_name
from pttt_ooc.games.rules.game import MOST_SQUARES
from pttt_ooc.types import Algorithm, Finish, Precision, Symmetry, TurnRule, Updates

_BOARD = {"rows": int, "columns": int, "k": int, "turn_rule": str}


def _game_name(value: Any) -> str:
    """The name of a game, which is given by name or, for phantom tic-tac-toe, by four keys."""
    if isinstance(value, Mapping):
        if set(value) != set(_BOARD) or any(type(value[key]) is not kind for key, kind in _BOARD.items()):
            board = "{rows: 2, columns: 4, k: 3, turn_rule: abrupt}"
            raise ValueError(f"the name of a game, or {board} with other numbers")
        if value["turn_rule"] not in get_args(TurnRule):
            raise ValueError(f"a game with the turn_rule {' or '.join(get_args(TurnRule))}")
        value = tic_tac_toe_name(**value)
    try:
        if isinstance(value, str) and find_game(value):
            return value
    except GameError as error:
        raise ValueError(f"another game: {str(error).rstrip('.')}") from None
    raise ValueError(f"the name of a game{did_you_mean(value, GAMES)}, as in the list of `pttt info`")


MEMORY_MB = 512
"""Default memory budget of a stage, or of a command that reads strategies, MB."""

_RUN = r"^[A-Za-z0-9][A-Za-z0-9_+-]{0,63}$"


def _run(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(_RUN[1:-1], value):
        raise ValueError("a name of at most 64 letters, digits, _, + and -, with a letter or digit first")
    return value


def number(value: Any) -> Any:
    """The value, unless it is true or false."""
    # YAML's yes, no, on and off are booleans, and Python's booleans are numbers.
    if isinstance(value, bool):
        raise ValueError("a number")
    return value


_SCHEMA: dict[str, Any] = {  # editors propose the listed names
    "anyOf": [
        {"enum": list(GAMES)},
        {"type": "string", "pattern": r"^(pttt|mini|dark-hex)-.*(abrupt|classical)"},
        {
            "type": "object",
            "properties": {
                **{key: {"type": "integer", "minimum": 1, "maximum": MOST_SQUARES} for key in ("rows", "columns", "k")},
                "turn_rule": {"enum": list(get_args(TurnRule))},
            },
            "required": list(_BOARD),
            "additionalProperties": False,
        },
    ]
}


def _either(schema: dict[str, Any]) -> None:
    schema.pop("type", None)
    schema.update(_SCHEMA)


Name = Annotated[str, BeforeValidator(_game_name), Field(json_schema_extra=_either)]
Run = Annotated[str, BeforeValidator(_run), Field(json_schema_extra={"pattern": _RUN})]
Real = Annotated[float, BeforeValidator(number), Field(allow_inf_nan=False)]
# Within a union or a tuple, a bound comes before the validator: after it, the JSON schema does not have it.
Seconds = Annotated[float, Field(allow_inf_nan=False, ge=0), BeforeValidator(number)]
Growth = Annotated[float, Field(allow_inf_nan=False, gt=1), BeforeValidator(number)]
Exponent = Annotated[float, Field(allow_inf_nan=False, ge=-1000, le=1000), BeforeValidator(number)]
Weight = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1000), BeforeValidator(number)]
Level = Annotated[int, Field(ge=0, le=9), BeforeValidator(number)]
Whole = Annotated[int, Field(ge=1, le=10**9), BeforeValidator(number)]
Infoset = Annotated[str, StringConstraints(pattern=r"^\|([0-9a-f][*.])*$")]


MOST_LISTED_SQUARES = 9
"""On larger boards, files with a row for each infoset are written only on request."""


MOST_REPLIED_SQUARES = 12
"""Without a list of infosets, best responses are found where at most this many squares are left."""


def _is_small(game: str) -> bool:
    return named_game(game).squares <= MOST_LISTED_SQUARES


class Section(BaseModel):
    """A part of the configuration; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RuleSection(Section):
    """An update rule with its parameters: a part of each section on solving."""

    algorithm: Algorithm = Field(default="sapdcfr+", description="How regrets become the next strategy.")
    alpha: Exponent | None = Field(
        default=None, description="Discount of positive regrets; null: what the algorithm's authors recommend."
    )
    beta: Exponent | None = Field(
        default=None, description="Discount of negative regrets; null: what the algorithm's authors recommend."
    )
    gamma: Weight | None = Field(
        default=None,
        description="Iteration t has the weight t^gamma in the average strategy; "
        "null: what the algorithm's authors recommend.",
    )
    asymmetry: Weight | None = Field(
        default=None,
        description="The sap... algorithms divide predictions by 1 + asymmetry; "
        "null: what the algorithm's authors recommend.",
    )
    horizon: Whole = Field(
        default=1000,
        description="Iterations during which hs-dcfr and hs-pcfr+ change their parameters; other algorithms ignore it. "
        "It is no budget.",
    )


PARAMETERS = tuple(key for key in RuleSection.model_fields if key not in ("algorithm", "horizon"))
"""The keys of the parameters of update rules."""


class SolveConfig(RuleSection):
    """How the game is solved, and when to stop."""

    restart_average: Growth | None = Field(
        default=None,
        description="The average starts over each time the number of iterations has grown by this factor, such as 4; "
        "null: never.",
    )
    updates: Updates = Field(
        default="alternating",
        description="alternating: player 1 is updated against the new player 0; simultaneous: against the old one.",
    )
    target_nashconv: Real = Field(
        default=1e-3, ge=0, description="Stop when the gap (NashConv) is at most this; 0: ignore the gap."
    )
    max_iterations: Whole = Field(default=2000, description="Stop after this many iterations.")
    max_minutes: Real = Field(
        default=60.0,
        gt=0,
        le=1e9,
        description="Stop after this many minutes by the clock, all runs together; an iteration that would end later "
        "is not begun. Evaluating and saving count, loading of compiled code does not.",
    )
    evaluate_every: Growth = Field(
        default=1.2,
        description="Compute the gap each time the number of iterations has grown by this factor.",
    )
    commit_seconds: Seconds | None = Field(
        default=None,
        description="Seconds between two saves of the state; 0: after each iteration; null: 30, more for large states.",
    )
    snapshot_every: Growth | None = Field(
        default=None,
        description="Keep the average strategies each time the number of iterations has grown by this factor, such as "
        "1.5; null: never.",
    )
    snapshots_mb: Real = Field(
        default=1000.0,
        gt=0,
        le=1e9,
        description="Disk space for these snapshots, MB; when it is used up, every second one is deleted.",
    )
    precision: Precision = Field(
        default="float32",
        description="Of regrets and of the sums of strategies; the gap is always computed in float64.",
    )


class FinishConfig(Section):
    """How the solver's strategies become an exact equilibrium."""

    method: Finish = Field(
        default="exact",
        description="exact: the double oracle goes on from the solver's strategies; none: they are the result.",
    )
    max_minutes: Real = Field(
        default=60.0,
        gt=0,
        le=1e9,
        description="If the equilibrium is not found in this many minutes, all runs together, the solver's strategies "
        "are the result; raise it, and the rounds go on.",
    )
    against: str = Field(
        default="uniform",
        min_length=1,
        description="Of all equilibria, the one that wins most against uniform play, or against the strategy of this "
        "name: a .zip, .npy or .h5 file, or the directory of a solution. none: any equilibrium.",
    )


def _finish(value: Any) -> Any:
    """The section for a single word: ``finish: none``."""
    return {"method": value} if isinstance(value, str) else value


def _word_or_section(schema: dict[str, Any]) -> None:
    section = {"$ref": schema.pop("$ref")} if "$ref" in schema else {"allOf": schema.pop("allOf")}
    schema["anyOf"] = [{"enum": list(get_args(Finish))}, section]


class ExportConfig(Section):
    """The files for the course and for others."""

    dtype: Precision = Field(
        default="float64",
        description="Of the probabilities in the files; float32 is smaller, and costs an exact equilibrium about 1e-8.",
    )
    compression_level: Level = Field(default=1, description="Of the zips: 0 none, 1 fast, 9 small.")
    infosets_0: Path | None = Field(
        default=None, description="A file of player 0's infosets, whose order the rows follow; null: the default order."
    )
    infosets_1: Path | None = Field(default=None, description="The same for player 1.")
    course: bool | None = Field(
        default=None,
        description="Whether to write the zips and the lists of infosets; null: on boards of up to nine squares.",
    )
    bundle: bool | None = Field(default=None, description="Whether to write strategies.h5; null: as for course.")

    def files(self, game: str) -> tuple[bool, bool]:
        """Whether the course's files and the bundle are written for a game."""
        small = _is_small(game)
        return small if self.course is None else self.course, small if self.bundle is None else self.bundle


class ReportConfig(Section):
    """What report.html shows beyond the results."""

    title: str = Field(default="Phantom Tic-Tac-Toe, solved", min_length=1, description="The report's heading.")
    infosets: tuple[Infoset, ...] = Field(
        default=("|", "|4*", "|0*4."), description="Infosets to draw, for each player who has them."
    )
    compare: tuple[Run, ...] = Field(
        default=(), description="Names of other runs of the same game and symmetry, whose gaps the report compares."
    )


class Config(Section):
    """All that a run of the workflow depends on."""

    game: Name = Field(
        default="pttt-abrupt", description="The game: its name, as in `pttt info`, or rows, columns, k and turn_rule."
    )
    symmetry: Symmetry = Field(
        default="full",
        description="full: of positions that mirror each other only one is solved; none: all are, about 7 times the "
        "work.",
    )
    run: Run = Field(
        default="default",
        description="A name that keeps the results of this configuration apart; views and index are shared.",
    )
    memory_mb: Whole = Field(
        default=MEMORY_MB, description="Most memory that a stage may use, MB; larger arrays are mapped from files."
    )
    listed: bool | None = Field(
        default=None,
        description="Whether all infosets are listed, as the solver and exported files need it; null: on boards of up "
        "to nine squares, or if files or finish: none are asked for. Without, only the exact equilibrium is found.",
    )
    solve: SolveConfig = SolveConfig()
    finish: Annotated[
        FinishConfig,
        BeforeValidator(_finish),
        Field(description="A word for method, or a section.", json_schema_extra=_word_or_section),
    ] = FinishConfig()
    export: ExportConfig = ExportConfig()
    report: ReportConfig = ReportConfig()

    @property
    def is_listed(self) -> bool:
        """Whether the game's infosets are listed."""
        if self.listed is not None:
            return self.listed
        return any(self.export.files(self.game)) or self.finish.method == "none" or _is_small(self.game)


def solving_command(game: str, data: Path = Path("data")) -> str:
    """The command that finds an equilibrium of a game: the solver, or where nothing is listed, the double oracle.

    Parameters
    ----------
    data
        The directory of all games, to which the result goes.

    Examples
    --------
    >>> solving_command("pttt-classical")
    'pttt solve --game pttt-classical'
    >>> solving_command("dark-hex-4x4-abrupt")
    'pttt exact --game dark-hex-4x4-abrupt --output data/dark-hex-4x4-abrupt/full'
    """
    if Config(game=game).is_listed:
        return f"pttt solve --game {game}" + f" --data {data}" * (data != Path("data"))
    return f"pttt exact --game {game} --output {data / game / 'full'}"


def check_listed(config: Config, what: str) -> None:
    """Raise a GameError if a game's infosets are not listed.

    Parameters
    ----------
    what
        What needs a list of them, for the sentence.
    """
    if not config.is_listed:
        check_listable(config.game)
        raise GameError(
            f"Game {config.game}: {what} needs a list of all infosets, which is made on boards of up to "
            f"{MOST_LISTED_SQUARES} squares; `pttt exact --game {config.game}` finds an equilibrium without one."
        )


_Model = TypeVar("_Model", bound=BaseModel)


def read_yaml(path: Path) -> Any:
    """The content of a YAML file; None if it is empty.

    Raises
    ------
    ConfigError
        If it cannot be read, is no YAML, or has a key twice (YAML's own reader would drop the first).
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506, as it is a SafeLoader
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text file in UTF-8.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        problem = getattr(error, "problem", None) or "it has a character that YAML does not allow"
        if "'\\t'" in problem:
            problem = "a tab stands here; indent with spaces"
        raise ConfigError(f"{path} is not YAML{where}: {problem}.") from error
    except ValueError as error:  # not covered by YAML's own errors
        raise ConfigError(
            f"{path} cannot be read: a number has thousands of digits, or a date does not exist."
        ) from error
    except RecursionError as error:
        raise ConfigError(f"{path} is not a configuration: its sections are nested too deeply.") from error


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(None, None, f"the key {key.value} is here a second time", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def check_config(content: Any, source: str = "config.yaml") -> Config:
    """Check a configuration after parsing.

    Parameters
    ----------
    content
        The content of the YAML file.
    source
        The name of the file, for messages.

    Raises
    ------
    ConfigError
        If a key or value is refused, or a named file does not exist.
    """
    config = check_section(Config, content, source)
    for key in ("infosets_0", "infosets_1"):
        file = getattr(config.export, key)
        if file is not None and not os.path.isfile(file):  # also false where the name is impossible
            raise ConfigError(f"{source}: export.{key} is {shorten(str(file))}, but there is no such file.")
    against = config.finish.against
    if against not in ("uniform", "none") and not os.path.exists(against):
        raise ConfigError(
            f"{source}: finish.against is {shorten(against)}, but there is no such file or directory; it may also be "
            "uniform or none."
        )
    if config.listed is False:
        listing = [key for key in ("course", "bundle") if getattr(config.export, key)]
        listing = [f"export.{key} is true" for key in listing] + ["finish is none"] * (config.finish.method == "none")
        if listing:
            raise ConfigError(f"{source}: listed is false, but {listing[0]}, which needs all infosets; leave one out.")
    return config


def check_section(model: type[_Model], content: Any, source: str = "config.yaml") -> _Model:
    """Check one section, a mapping, against its model; raise ConfigError as :func:`check_config`."""
    if not isinstance(content, Mapping):
        raise ConfigError(f"{source}: there are no keys with values, but {shorten(content)}.")
    odd = [key for key in content if not isinstance(key, str)]
    if odd:
        raise ConfigError(f"{source}: there is no key {odd[0]}; choose from {', '.join(model.model_fields)}.")
    try:
        return model.model_validate(dict(content))
    except ValidationError as error:
        raise ConfigError(f"{source}: {_sentence(error.errors()[0], model)}") from None


def _sentence(problem: Mapping[str, Any], model: type[BaseModel]) -> str:
    path, kind = problem["loc"], problem["type"]
    if kind == "extra_forbidden":
        known = list(_model_at(model, path[:-1]).model_fields)
        guess = did_you_mean(path[-1], known) or _elsewhere(model, path) or f"; choose from {', '.join(known)}"
        return f"there is no key {_key_path(path)}{guess}."
    if kind == "invalid_key":
        return f"there is no key {_key_path((*path[:-1], str(path[-1])))}."
    return f"{_key_path(path)} is {shorten(problem['input'])}, but must be {allowed_values(problem)}."


def _model_at(model: type[BaseModel], path: tuple[str | int, ...]) -> type[BaseModel]:
    for key in path:
        if isinstance(key, int):  # the position in a list, whose model is already reached
            continue
        annotation: Any = model.model_fields[key].annotation
        annotation = (get_args(annotation) or (annotation,))[0]
        assert isinstance(annotation, type) and issubclass(annotation, BaseModel)
        model = annotation
    return model


def _elsewhere(model: type[BaseModel], path: tuple[str | int, ...]) -> str:
    """A hint for a key in the wrong section, or beside the mapping that it belongs to."""
    *above, key = path
    if any(isinstance(part, int) for part in above):  # an item of a list has no other section to be in
        fields = _model_at(model, tuple(above)).model_fields
        inside = [name for name, field in fields.items() if get_origin(field.annotation) is dict]
        return f" (did you mean {_key_path((*above, inside[0], key))}?)" if inside else ""
    sections = {name: field.annotation for name, field in model.model_fields.items()}
    homes = [
        name for name, kind in sections.items() if isinstance(kind, type) and key in getattr(kind, "model_fields", {})
    ]
    return f" (did you mean {homes[0]}.{key}, in the section {homes[0]}?)" if homes else ""


def allowed_values(problem: Mapping[str, Any]) -> str:
    """The allowed values, to follow the words "must be", from an error of pydantic."""
    kind, context, message = problem["type"], problem.get("ctx", {}), str(problem["msg"])
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        allowed = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"one of {', '.join(allowed)}{did_you_mean(problem['input'], allowed)}"
    if kind in _WANTED:
        return _WANTED[kind]
    # pydantic's own words, such as "Input should be greater than 0"
    return message.removeprefix("Input should be ").partition(",")[0].replace("valid ", "")


_WANTED = {
    "string_pattern_mismatch": "an infoset such as '|0*4.': a bar, then for each own attempt its square and * or .",
    "model_type": "a section: keys with values, indented below it",
    "finite_number": "a number, and finite",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_parsing_size": "a whole number with fewer digits",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "path_type": "the name of a file",
    "tuple_type": "a list",
    "string_type": "a text",
    "string_unicode": "a text in Unicode",
    "string_too_short": "a text that is not empty",
}


def _key_path(path: tuple[str | int, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def shorten(value: Any) -> str:
    """A refused value, shortened."""
    if value is None:
        return "empty"
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    except ValueError as error:
        # Python writes no numbers of thousands of digits, and YAML's aliases can make a list that holds itself.
        return "a list that holds itself" if "Circular" in str(error) else "a number of thousands of digits"
    except RecursionError:
        return "a list that holds itself"
    text = text if len(text) <= 60 else text[:57] + "..."
    return repr(text) if isinstance(value, str) else text
