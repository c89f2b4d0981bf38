"""Every exception that biasbounty raises, in one tree.

An exception means malformed input or a broken invariant; a rejected submission is a verdict, not an exception.
Messages read `<thing> <problem>: expected X, got Y`, then what to do.

    BiasBountyError
    ├── SettingsError               a setting or argument of the organizer
    │   ├── HoldoutError            rows or labels that cannot serve as a holdout
    │   └── HoldoutTooSmallError    a holdout too small for the checker's theorem
    ├── SubmissionError             a submission that cannot be judged (nothing was changed), or a node made from one
    │   │                           that fails while predicting
    │   ├── GroupError              its group failed, or answered something other than 0 and 1
    │   │   └── PredicateError      its group is predicate text that is none, or not of these rows
    │   ├── ModelError              its model failed, or answered something that is no label
    │   ├── RefusedError            its ONNX file was refused before anything of it was run; `reasons` says why
    │   └── SubmissionFailedError   it failed while it ran in the sandbox: too long, too large, crashed
    ├── ConversionError             a fitted model has no ONNX form that answers as it does
    ├── LossError                   a loss outside [0, 1]
    ├── BountyStoppedError          the checker has stopped and takes no more submissions
    ├── ReplayError                 a replay disagrees with what was recorded
    ├── ContractError               an implementation breaks the contract it claims to keep
    ├── MissingExtraError           an optional dependency is not installed
    ├── ArchiveError                a saved list cannot be read
    ├── LedgerError                 a ledger is not what it was, or holds what it cannot
    ├── StoreError                  the database could not write or read; nothing was changed
    └── ServiceError                a request to the service that it cannot follow
        ├── NotFoundError           there is no such bounty, submission or file, or not for whoever asks
        ├── NotAllowedError         the token does not allow it
        ├── ConflictError           it does not fit the state that things are in
        ├── QuotaError              too many submissions today
        └── UnreachableError        no server answers, or not as a server of biasbounty does
"""

from collections.abc import Sequence


class BiasBountyError(Exception):
    """The root of everything raised here on purpose."""


class SettingsError(BiasBountyError, ValueError):
    """A setting or argument is not usable."""


class HoldoutError(SettingsError):
    """Rows or labels cannot serve as a holdout."""


class HoldoutTooSmallError(SettingsError):
    """The holdout is too small for the theorem that the checker promises."""


class SubmissionError(BiasBountyError):
    """A submission cannot be judged; the bounty is as it was before."""


class GroupError(SubmissionError):
    """A group failed, or answered something other than one 0 or 1 for each row."""


class PredicateError(GroupError):
    """A group is text that is no predicate, or names what the rows do not have."""


class ModelError(SubmissionError):
    """A model failed, or answered something other than one label for each row."""


class RefusedError(SubmissionError):
    """An ONNX file was refused before anything of it was run.

    Attributes:
        reasons: What is wrong with it, each in words and with the way out.
    """

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__("; ".join(self.reasons))

    def __reduce__(self) -> tuple[type["RefusedError"], tuple[tuple[str, ...]]]:
        return RefusedError, (self.reasons,)


class SubmissionFailedError(SubmissionError):
    """A submission failed while it ran in the sandbox."""


class ConversionError(BiasBountyError):
    """A fitted model could not be converted to ONNX, or its conversion answers differently."""


class LossError(BiasBountyError, ValueError):
    """A loss was outside [0, 1]."""


class BountyStoppedError(BiasBountyError):
    """The checker has stopped: no further submission can be judged with its guarantee."""


class ReplayError(BiasBountyError):
    """Replaying the submissions gave another result than the one recorded."""


class ContractError(BiasBountyError, AssertionError):
    """An implementation does not keep the contract it was checked against."""


class MissingExtraError(BiasBountyError, ImportError):
    """A feature needs an optional dependency that is not installed."""


class ArchiveError(BiasBountyError):
    """A file is no saved decision list, or one of a version that this release does not read."""


class LedgerError(BiasBountyError):
    """A ledger was changed, does not follow, is not signed, or was to hold what it cannot."""


class StoreError(BiasBountyError):
    """The database could not write or read; nothing was changed."""


class ServiceError(BiasBountyError):
    """A request that the service cannot follow."""


class NotFoundError(ServiceError):
    """There is no such thing, or not for whoever asks."""


class NotAllowedError(ServiceError):
    """The token does not allow it."""


class ConflictError(ServiceError):
    """It does not fit the state that things are in."""


class QuotaError(ServiceError):
    """The hunter, or the team, has handed in as many submissions today as the bounty takes."""


class UnreachableError(ServiceError):
    """No server answers there, or none of biasbounty: what was sent may be sent again."""
