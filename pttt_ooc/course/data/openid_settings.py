"""What the settings say about OpenID Connect, checked before the server starts."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.course.data.settings import SETTINGS, CourseSettings
from pttt_ooc.errors import CourseError
from pttt_ooc.extras import check_extra


def check_openid(settings: CourseSettings, data: Path) -> None:
    """Raise a PtttError if OpenID Connect is wanted, and cannot be: an extra or a key is missing, or the secret."""
    if settings.openid_issuer is None:
        return
    check_extra("openid", "Signing in by OpenID Connect")
    if not settings.openid_client:
        raise CourseError(f"{data / SETTINGS} has openid_issuer, but no openid_client.")
    secret_of(settings, data)


def secret_of(settings: CourseSettings, data: Path) -> str:
    """The secret of this server's name there; empty if it has none.  CourseError if the file cannot be read."""
    if settings.openid_secret is None:
        return ""
    try:
        return (data / settings.openid_secret).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"The file openid_secret of {data / SETTINGS} cannot be read: {error}.") from error
