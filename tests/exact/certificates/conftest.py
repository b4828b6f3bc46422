"""Fixtures of the tests in this folder."""

from tests.exact.certificates.serverless_pages import directory, opened  # noqa: F401
