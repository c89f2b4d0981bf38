"""The one assertion of the contract suites."""

from biasbounty.errors import ContractError


def expect(clause: str, expected: object, got: object) -> None:
    """Raise ContractError unless what came is what the clause of the contract says."""
    if expected != got:
        raise ContractError(f"{clause}: expected {expected!r}, got {got!r}")
