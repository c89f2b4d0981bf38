"""Anytime with one of its rules left out: never to be used, only to show what each rule is there for."""

from dataclasses import dataclass, field, replace
from math import log

from biasbounty.core.anytime import Anytime, AnytimeExamination
from biasbounty.core.checkers import Examination, Posed
from biasbounty.core.transcript import Question
from biasbounty.statistics import Evidence
from biasbounty.statistics.bounds import passes
from biasbounty.statistics.surprise import Asked, Binomial, Code, Kind, Response


@dataclass(frozen=True)
class FreeLevels(Code):
    """A code that charges for the acceptance, and nothing for the payout level told with it."""

    code: Code

    def log_yes(self, asked: Asked) -> float:
        """Say what the code says."""
        return self.code.log_yes(asked)

    def log_no(self, asked: Asked) -> float:
        """Say what the code says."""
        return self.code.log_no(asked)

    def least_log_no(self, kind: Kind) -> float:
        """Say what the code says."""
        return self.code.least_log_no(kind)

    def log_alternative(self, asked: Asked, alternative: int) -> float:
        """Charge nothing for a payout level."""
        return 0.0 if asked.kind == "submission" else self.code.log_alternative(asked, alternative)

    def after(self, asked: Asked, response: Response) -> "FreeLevels":
        """Move on."""
        return FreeLevels(self.code.after(asked, response))


@dataclass(frozen=True)
class FreeRepairs(AnytimeExamination):
    """An examination that takes repairs for its own business: every pair at the whole level, and no answer charged."""

    def pose(self, question: Question) -> Posed:  # type: ignore[override]
        """Pose a submission as it should be, and a repair step for nothing."""
        return _Unpriced(self) if question.kind == "repair" else super().pose(question)


@dataclass(frozen=True)
class _Unpriced(Posed):
    at: FreeRepairs

    def passes(self, evidence: Evidence, alternative: int = 0) -> bool:  # noqa: ARG002
        """Test every pair at the whole level."""
        return passes(evidence, self.at.floor, self.at.log_level(), zero_one=self.at.zero_one)

    def after(self, response: Response) -> Examination:  # noqa: ARG002
        """Charge nothing."""
        return self.at


@dataclass(frozen=True)
class WithoutPayoutCharge(Anytime):
    """Anytime, had payout levels been told for nothing."""

    def begin(self, size: int, *, repairs: bool, zero_one: bool, public: bool = False) -> AnytimeExamination:
        """Set to work with a code that charges too little."""
        examination = super().begin(size, repairs=repairs, zero_one=zero_one, public=public)
        return replace(examination, code=FreeLevels(examination.code))


@dataclass(frozen=True)
class WithoutRepairRule(Anytime):
    """Anytime, had repairs been made for nothing."""

    def begin(self, size: int, *, repairs: bool, zero_one: bool, public: bool = False) -> AnytimeExamination:
        """Set to work and let repairs be free."""
        sound = super().begin(size, repairs=repairs, zero_one=zero_one, public=public)
        return FreeRepairs(sound.settings, sound.size, sound.zero_one, sound.code)


@dataclass(frozen=True)
class Uncharged(Code):
    """A code that charges nothing at all: what a fresh holdout for each question would allow, at the same shares."""

    def log_yes(self, asked: Asked) -> float:  # noqa: ARG002
        """Charge nothing."""
        return 0.0

    def log_no(self, asked: Asked) -> float:  # noqa: ARG002
        """Charge nothing."""
        return 0.0

    def least_log_no(self, kind: Kind) -> float:  # noqa: ARG002
        """Charge nothing."""
        return 0.0

    def log_alternative(self, asked: Asked, alternative: int) -> float:  # noqa: ARG002
        """Charge nothing, and divide a repair step's level evenly."""
        return -log(asked.alternatives) if asked.kind == "repair" else 0.0

    def after(self, asked: Asked, response: Response) -> "Uncharged":  # noqa: ARG002
        """Stay as it is."""
        return self


@dataclass(frozen=True)
class Coded(Anytime):
    """Anytime under a code of one's choice."""

    code: Code = field(default_factory=Binomial)

    def begin(self, size: int, *, repairs: bool, zero_one: bool, public: bool = False) -> AnytimeExamination:
        """Set to work under the code."""
        examination = super().begin(size, repairs=repairs, zero_one=zero_one, public=public)
        return replace(examination, code=self.code)
