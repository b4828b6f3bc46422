"""A state as named arrays: fields of named tuples and data classes, and the content of a file."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def write_arrays(file: IO[bytes], arrays: Arrays) -> None:
    """Write arrays by name to an open file, piece by piece."""
    np.savez(file, allow_pickle=False, **arrays)


def as_bytes(arrays: Arrays) -> bytes:
    """What :func:`write_arrays` writes."""
    content = io.BytesIO()
    write_arrays(content, arrays)
    return content.getvalue()


def from_bytes(content: bytes) -> Arrays:
    """The arrays of such a file, which may be damaged: then numpy and zipfile raise what they like."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def pack_fields(name: str, fields: dict[str, Any]) -> Arrays:
    """Arrays by name; what is not an array is one of JSON."""
    return {
        f"{name}/{key}": value if isinstance(value, np.ndarray) else np.array(json.dumps(value))
        for key, value in fields.items()
    }


def unpack_fields(name: str, arrays: Arrays) -> dict[str, Any]:
    """The fields that :func:`pack_fields` packed."""
    prefix = f"{name}/"
    return {
        key.removeprefix(prefix): json.loads(str(value)) if value.dtype.kind == "U" else value
        for key, value in arrays.items()
        if key.startswith(prefix) and "/" not in key.removeprefix(prefix)
    }


def fields_of(instance: Any) -> dict[str, Any]:
    """The fields of a data class, not copied."""
    return {field.name: getattr(instance, field.name) for field in dataclasses.fields(instance)}
