"""Layers: what stands between a model and the machine, each one active or not, and why not."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

USER_NAMESPACE = "user namespace"
NAMESPACES = (
    "mount namespace",
    "network namespace",
    "PID namespace",
    "IPC namespace",
    "UTS namespace",
    "cgroup namespace",
)
EMPTY_ROOT = "empty root"
OWN_USER = "own user"
NO_CAPABILITIES = "no capabilities"
NO_NEW_PRIVILEGES = "no new privileges"
LIMITS = "limits"
LANDLOCK = "Landlock"
FILTER = "system call filter"

_APART = ("mount namespace", "network namespace", "PID namespace", EMPTY_ROOT)


@dataclass(frozen=True)
class Layers:
    """Which layers are active; `str()` tells them all."""

    active: tuple[str, ...]
    inactive: Mapping[str, str]
    """Why each other layer is not, by its name."""

    @property
    def lacking(self) -> str:
        """What is lacking that a sandbox must have, in words; empty if nothing is."""
        apart = [layer for layer in _APART if layer not in self.active]
        needs = [] if LANDLOCK in self.active or not apart else [*apart, LANDLOCK]
        needs += [] if FILTER in self.active else [FILTER]
        return ", ".join(f"{layer} ({self.inactive.get(layer, 'not tried')})" for layer in needs)

    def __str__(self) -> str:
        without = ", ".join(f"{layer} ({reason})" for layer, reason in self.inactive.items())
        return f"active: {', '.join(self.active) or 'none'}; not active: {without or 'none'}"


class Record:
    """Tries layers one by one and writes down what became of each."""

    def __init__(self, without: Set[str] = frozenset()) -> None:
        self._without = without
        self._active: list[str] = []
        self._inactive: dict[str, str] = {}

    def attempt(self, layer: str, act: Callable[[], object]) -> bool:
        """Act, and say whether that worked; a layer left out or not to be had is written down with the reason."""
        if layer in self._without:
            self.skip(layer, "left out")
            return False
        try:
            act()
        except OSError as error:
            self.skip(layer, error.strerror or str(error))
            return False
        self._active.append(layer)
        return True

    def skip(self, layer: str, reason: str) -> None:
        """Write down that a layer is not active."""
        self._inactive[layer] = reason

    def layers(self) -> Layers:
        """Return what was written down."""
        return Layers(tuple(self._active), dict(self._inactive))
