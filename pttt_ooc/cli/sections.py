"""The whole configuration of the workflow: the core's keys, and the sections of wings.

The core's models know no wing, and a wing's model knows only its own section.  Here a whole file is checked: an unknown
key is compared with all known keys.  ``python -m pttt_ooc.cli.sections`` prints the JSON schema, which is kept in
``workflow/schemas/config.schema.json`` for editors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

from pydantic import BaseModel, create_model

from pttt_ooc.cli.wings import WINGS
from pttt_ooc.config import Config, check_config, check_section, read_yaml
from pttt_ooc.pipeline.sweeps.pipeline import cells

SECTIONS: dict[str, type[BaseModel]] = {wing.name: resolve_name(wing.section) for wing in WINGS if wing.section}
"""The sections of the wings: the key in config.yaml, and the model."""


Checked: TypeAlias = tuple[Config, dict[str, Any]]
"""The core's configuration, and the wings' sections by their keys."""


def check_file(
    content: Any, source: str = "config.yaml", sections: Mapping[str, type[BaseModel]] = SECTIONS
) -> Checked:
    """Check the core's keys and the sections of all wings.

    Parameters
    ----------
    content
        The content of the YAML file.
    source
        The name of the file, for messages.
    sections
        The models of the wings' sections, by their keys.

    Raises
    ------
    ConfigError
        If a key or value is refused, or a file that it names does not exist.
    """
    whole = check_section(whole_model(sections), content, source)
    core = check_config({key: value for key, value in content.items() if key not in sections}, source)
    return core, {key: getattr(whole, key) for key in sections}


def load_file(path: Path, sections: Mapping[str, type[BaseModel]] = SECTIONS) -> Checked:
    """Read and check a configuration file; missing keys have their defaults.

    Raises
    ------
    ConfigError
        If it cannot be read, or a key or value is refused; the message names file and key.
    """
    content = read_yaml(path)
    return check_file({} if content is None else content, str(path), sections)


def load_with_options(file: Path | None, game: str | None, keys: Mapping[str, Any]) -> Config:
    """The core's configuration of a file, if any, overridden by a game, if any, and by keys.

    Parameters
    ----------
    keys
        As :func:`pttt_ooc.options.with_keys` finds them on the command line.

    Raises
    ------
    ConfigError
        As :func:`load_file`.
    """
    content: dict[str, Any] = load_file(file)[0].model_dump(mode="json") if file else {}
    for key, value in {**keys, **({"game": game} if game else {})}.items():
        content[key] = {**content.get(key, {}), **value} if isinstance(value, dict) else value
    return check_config(content, "The options")


def further_runs(core: Config, wings: Mapping[str, Any]) -> dict[str, Config]:
    """Further runs of the workflow that wings ask for, by the directories of their results.

    Raises
    ------
    ConfigError
        If they conflict with the configuration's own run.
    """
    return cells(core, wings["sweep"])


def whole_model(sections: Mapping[str, type[BaseModel]] = SECTIONS) -> type[Config]:
    """The model of a file with the core's keys and these sections; all keys have defaults."""
    fields: dict[str, Any] = {key: (model, model()) for key, model in sections.items()}
    return create_model("Config", __base__=Config, __doc__=Config.__doc__, **fields)


def schema_text(sections: Mapping[str, type[BaseModel]] = SECTIONS) -> str:
    """The JSON schema of the configuration."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole_model(sections).model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
