"""Names to factories: lazily imported, closest name suggested, open to third parties."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of named factories.

    A name is one of ours (a lazy target ``module:attribute``), one from the entry-point group
    (a third party's installed package), or itself a path ``package.module:Class``.

    Parameters
    ----------
    kind : str
        What the names stand for, used in messages ("memory system").
    targets : dict of str to str
        Our names and where each is defined; nothing is imported before it is asked for.
    group : str
        Entry-point group read for further names.
    listing : str
        Where a reader finds the names, for messages.
    """

    def __init__(
        self,
        kind: str,
        targets: dict[str, str],
        group: str,
        *,
        listing: str = "`unbidden systems` lists the names",
    ) -> None:
        self.kind, self.group, self.listing = kind, group, listing
        self._targets = dict(targets)

    def names(self) -> list[str]:
        """Return all known names: ours in their order, then third parties' sorted."""
        theirs = {point.name for point in importlib.metadata.entry_points(group=self.group)}
        return [*self._targets, *sorted(theirs - set(self._targets))]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def factory(self, name: str) -> Callable[..., T]:
        """Return the factory called `name`.

        Raises
        ------
        ConfigError
            If the name is unknown (the closest ones are suggested) or its import fails.
        """
        if name in self._targets:
            return self._load(name, self._targets[name])
        for point in importlib.metadata.entry_points(group=self.group):
            if point.name == name:
                return self._load(name, point.value)
        if ":" in name:
            return self._load(name, name)
        raise ConfigError(
            f"unknown {self.kind} {name!r}",
            expected=f"a registered name or package.module:Class; {closest(name, self.names())}",
            next_step=f"{self.listing}; correct the parameter",
        )

    def create(self, name: str, **options: Any) -> T:
        """Build the object called `name` with `options`."""
        make = self.factory(name)
        try:
            return make(**options)
        except TypeError as error:
            raise ConfigError(
                f"{self.kind} {name!r} cannot be built with options {sorted(options)}",
                got=str(error),
                next_step="check the option names in its docstring",
            ) from error

    def _load(self, name: str, target: str) -> Callable[..., T]:
        module_name, _, attribute = target.partition(":")
        if (cwd := str(Path.cwd())) not in sys.path:
            # A user's own module usually lies beside the notebook, not in site-packages.
            sys.path.append(cwd)
        try:
            found: Callable[..., T] = getattr(importlib.import_module(module_name), attribute)
        except (ImportError, AttributeError) as error:
            raise ConfigError(
                f"{self.kind} {name!r} cannot be imported",
                expected=f"an attribute {attribute!r} in module {module_name!r}",
                got=f"{type(error).__name__}: {error}",
                next_step="install the extra it needs, or run from the folder of the module",
            ) from error
        return found
