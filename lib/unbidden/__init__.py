"""Unbidden: a reproducible study of context-driven memory in conversational agents."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("unbidden")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
