"""The paper's Table 3: a team that hunts by hand, by slices and by what is learned of the newest round's mistakes.

Its turns are those of the paper's table, and a few more. In a turn one of them submits until something is accepted, a
few times at most. `Plain` judges, as it did there, and in a bounty of its own `Anytime`, with public rows. Every
submission is also measured on fresh rows, that neither the team nor the judge have seen. Teams of one kind only play as
many turns, to see whether mixed ones do better, as the paper observed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from biasbounty.bounty import Bounty
from biasbounty.core.answers import ask
from biasbounty.core.anytime import Anytime
from biasbounty.core.checkers import Checker
from biasbounty.core.thresholds import Plain
from biasbounty.datasets import Sample, Splits, initial_stump, load_states, split
from biasbounty.datasets.groups import Among, Mask
from biasbounty.errors import SettingsError
from biasbounty.finders import Finder
from biasbounty.finders.conditions import Condition, SliceGroup
from biasbounty.finders.features import Floats
from biasbounty.finders.found import FoundGroup, FoundModel
from biasbounty.finders.residual import ResidualFinder
from biasbounty.finders.slices import SliceFinder
from biasbounty.values import Certificate
from experiments import sources
from experiments.hunters_page import contributions_chart, parts, risks_chart
from experiments.output import Output
from experiments.sources import Request, console

PAPER_TURNS = "MMMAAMAAAAAMAAR"
"""By hand (M), by slices (A) or from mistakes (R): how the fifteen groups of the paper's table were found."""
TURNS = PAPER_TURNS + "MARAR"
SEARCHED = 0.8
"""The share of the rows that a finder searches in a turn: it may not find the same twice."""
TRIES = 3
"""How often a hunter submits in a turn, if nothing is accepted."""
QUICK = "MARM"
TEAMS = {"mixed": "", "by hand": "M", "slices": "A", "mistakes": "R"}
"""The teams, and which hunter takes all turns; the mixed one's take them in order."""
CHECKERS: dict[str, Checker] = {"Plain": Plain(), "Anytime": Anytime(0.0, 0.05)}
DIVISIONS = 3
"""How often the rows are divided anew; the table shows the first."""
TEXTS = ("COW", "MAR", "OCCP", "POBP", "SEX", "RAC1P")
"""Columns whose codes have no order: slices ask for their texts."""
MOST_CODES = 1_000
"""Codes and numbers of the file are below."""
Texts: TypeAlias = Mapping[str, Sequence[str]]
Answers: TypeAlias = Sequence[int] | str
"""Codes, or what the texts of codes begin with, one after another divided by |."""
MANUAL: dict[str, dict[str, Answers]] = {
    "male": {"SEX": (1,)},
    "female": {"SEX": (2,)},
    "aged 17 to 24 and not white": {"AGEP": range(17, 25), "RAC1P": range(2, 10)},
    "over 62": {"AGEP": range(63, 120)},
    "born in Mexico, the Philippines, Vietnam, Laos or Cambodia, in health work": {
        "POBP": "Mexico|Philippines|Vietnam|Laos|Cambodia",
        "OCCP": "MED-|HLS-",
    },
    "at most 20 hours a week": {"WKHP": range(21)},
    "50 hours a week or more, no degree": {"WKHP": range(50, 100), "SCHL": range(20)},
    "bachelor's degree or more, under 30": {"SCHL": range(21, 25), "AGEP": range(30)},
    "women with a master's degree or more": {"SEX": (2,), "SCHL": range(22, 25)},
    "government employees": {"COW": (3, 4, 5)},
    "self-employed, not incorporated": {"COW": (6,)},
    "managers": {"OCCP": "MGR-"},
    "in sales": {"OCCP": "SAL-"},
    "in office work, women": {"OCCP": "OFF-", "SEX": (2,)},
    "teachers, librarians": {"OCCP": "EDU-"},
    "Black, with a bachelor's degree or more": {"RAC1P": (2,), "SCHL": range(21, 25)},
    "Asian, with a bachelor's degree or more": {"RAC1P": (6,), "SCHL": range(21, 25)},
    "divorced or separated": {"MAR": (3, 4)},
    "aged 30 to 39, in construction": {"AGEP": range(30, 40), "OCCP": "CON-"},
    "drivers, movers": {"OCCP": "TRN-"},
}
"""Groups that a person would write, the first five after the paper's own, in the order they are tried."""


@dataclass(frozen=True)
class All:
    """The rows that are in all of some groups."""

    groups: tuple[Among, ...]

    def __call__(self, X: Any) -> Mask:
        """Say of each row whether it is in the group."""
        return np.asarray(np.logical_and.reduce([group(X) for group in self.groups]))


@dataclass(frozen=True, eq=False)
class Looked:
    """What was learned on texts, asked about rows of codes: what each code becomes was looked up once for all."""

    found: FoundGroup | FoundModel
    tables: tuple[Floats, ...]
    """By column: the number that each code becomes."""

    def __call__(self, X: Any) -> Any:
        """Answer about rows of codes."""
        return self.found.of(np.column_stack([table[X[:, place]] for place, table in enumerate(self.tables)]))


@dataclass(frozen=True, eq=False)
class Data:
    """Rows in five parts: the team has two, all see public, the judge has the holdout, nobody sees fresh.

    Who hunts by hand learns from one of the team's parts; finders search the other, since a model's mistakes on rows
    that it has learned from are not those that it makes on others.
    """

    columns: tuple[str, ...]
    texts: Texts
    seen: Splits
    searched: tuple[Any, Any]
    public: tuple[Any, Any]
    fresh: tuple[Any, Any]

    @staticmethod
    def of(sample: Sample, texts: Texts, seed: int) -> "Data":
        """Set a fifth aside as fresh, of the others a fifth as the holdout, of the others a fifth as public."""
        rest, fresh = _apart(sample, 0.2, seed)
        rest, holdout = _apart(rest, 0.2, seed)
        rest, public = _apart(rest, 0.2, seed)
        learned, searched = _apart(rest, 0.5, seed)
        return Data(
            columns=sample.columns,
            texts=texts,
            seen=Splits(learned.X, holdout.X, learned.y, holdout.y),
            searched=(searched.X, searched.y),
            public=(public.X, public.y),
            fresh=(fresh.X, fresh.y),
        )

    @property
    def measured(self) -> dict[str, tuple[Any, Any]]:
        """The parts on which submissions are measured."""
        return {"holdout": (self.seen.X_holdout, self.seen.y_holdout), "fresh": self.fresh}

    def values(self, name: str) -> Any:
        """Return what each code of a column stands for: its text where codes have no order, else itself."""
        if name in TEXTS:
            return np.array(["none", *self.texts[name]], object)
        return np.arange(MOST_CODES)

    def frame(self, X: Any) -> Any:
        """Return rows of codes as a frame of what they stand for."""
        import pandas as pd

        return pd.DataFrame({name: self.values(name)[X[:, place]] for place, name in enumerate(self.columns)})

    def on_codes(self, found: Any) -> Any:
        """Return a group or a model that was found on such a frame as one of rows of codes."""
        if isinstance(found, SliceGroup):
            asked = zip(found.places, found.conditions, strict=True)
            return All(tuple(Among(place, self._meeting(place, condition)) for place, condition in asked))
        features = found.features.columns
        return Looked(
            found, tuple(one.encode(self.values(name)) for one, name in zip(features, self.columns, strict=True))
        )

    def _meeting(self, place: int, condition: Condition) -> tuple[int, ...]:
        """Return the codes that meet a condition."""
        return tuple(np.flatnonzero(condition.holds(self.values(self.columns[place]))).tolist())

    def group(self, answers: Mapping[str, Answers]) -> All:
        """Return a group written by hand."""
        return All(
            tuple(Among(self.columns.index(name), self._codes(name, wanted)) for name, wanted in answers.items())
        )

    def _codes(self, name: str, wanted: Answers) -> tuple[int, ...]:
        if not isinstance(wanted, str):
            return tuple(wanted)
        begin = tuple(wanted.split("|"))
        return tuple(code for code, text in enumerate(self.texts[name], start=1) if text.startswith(begin))


def _apart(sample: Sample, share: float, seed: int) -> tuple[Sample, Sample]:
    """Return a sample in two, the second with this share of the rows."""
    parts = split(sample, share, seed)
    return (
        Sample(parts.X_train, parts.y_train, sample.columns, sample.source),
        Sample(parts.X_holdout, parts.y_holdout, sample.columns, sample.source),
    )


@dataclass(frozen=True)
class Claimed:
    """What a submission does on some rows: risk on the group before and after, the group's weight, overall risk."""

    before: float
    after: float
    weight: float
    overall: float
    """Once it is judged, and repairs are made."""

    @property
    def contribution(self) -> float:
        """What overall risk falls by if it is accepted, without repairs."""
        return self.weight * (self.before - self.after)


@dataclass(frozen=True)
class Tried:
    """A submission and what became of it."""

    turn: int
    hunter: str
    words: str
    accepted: bool
    repairs: int
    holdout: Claimed
    fresh: Claimed


class Board:
    """A bounty, and what its newest round answers on every part but the learned and the public one."""

    def __init__(self, data: Data, checker: Checker) -> None:
        splits = data.seen
        self.data = data
        self.bounty = Bounty(
            initial_stump(splits), splits.X_holdout, splits.y_holdout, checker=checker, public=data.public
        )
        self.answers = dict[str, Any]()
        self._answer()

    def _answer(self) -> None:
        asked = {part: X for part, (X, _) in self.data.measured.items()} | {"searched": self.data.searched[0]}
        self.answers = {part: self.bounty.model.predict(X) for part, X in asked.items()}

    def risks(self) -> dict[str, float]:
        """Return the newest round's risk on the parts that are measured."""
        return {part: _risk(self.answers[part], y) for part, (_, y) in self.data.measured.items()}

    def submit(self, certificate: Certificate, turn: int, letter: str) -> Tried:
        """Submit, and measure what it does."""
        before = self.answers
        verdict = self.bounty.submit(certificate.group, certificate.model, hunter=letter, note=certificate.note)
        if verdict.accepted:
            self._answer()
        risks = self.risks()
        claims = {
            part: _claimed(certificate, X, y, before[part], risks[part]) for part, (X, y) in self.data.measured.items()
        }
        return Tried(turn, letter, certificate.note, verdict.accepted, len(verdict.repairs), **claims)


def _claimed(certificate: Certificate, X: Any, y: Any, before: Any, overall: float) -> Claimed:
    own = np.asarray(ask(certificate.group, X), np.bool_)
    if not own.any():
        return Claimed(0.0, 0.0, 0.0, overall)
    after = ask(certificate.model, X[own])
    return Claimed(_risk(before[own], y[own]), _risk(after, y[own]), round(float(own.mean()), 6), overall)


def _risk(answers: Any, y: Any) -> float:
    return round(float((answers != y).mean()), 6)


def forest() -> RandomForestClassifier:
    """Return the model, not fitted yet, of groups that are not slices."""
    return RandomForestClassifier(n_estimators=20, min_samples_leaf=5, random_state=0)


Hunter: TypeAlias = Callable[[Board, int], Iterator[Certificate | None]]
"""Of a board and a seed, makes what it submits in turn; None where it has looked for something and found nothing."""


def by_hand(board: Board, seed: int) -> Iterator[Certificate | None]:  # noqa: ARG001
    """Yield the groups written by hand, each with a forest for it."""
    X, y = board.data.seen.X_train, board.data.seen.y_train
    for words, answers in MANUAL.items():
        group = board.data.group(answers)
        own = group(X)
        if own.any():
            yield Certificate(group, forest().fit(X[own], y[own]), note=words)


def searching(finder: Finder) -> Hunter:
    """Return a hunter who lets a finder search, each time among other rows; it may find nothing."""

    def hunt(board: Board, seed: int) -> Iterator[Certificate | None]:
        rng = np.random.default_rng(seed)
        X, y = board.data.searched
        rows = board.data.frame(X)
        while True:
            some = np.sort(rng.choice(len(y), int(len(y) * SEARCHED), replace=False))
            found = finder.find(rows.iloc[some], y[some], board.answers["searched"][some], rng)
            yield None if found is None else _on_codes(found, finder, board.data)

    return hunt


def _on_codes(found: Certificate, finder: Finder, data: Data) -> Certificate:
    """Return what was found on texts as a certificate about rows of codes, with its rule alone as the note."""
    words, _, _ = found.note.partition(f" ({type(finder).__name__}: ")
    return Certificate(data.on_codes(found.group), data.on_codes(found.model), note=words)


HUNTERS: dict[str, Hunter] = {
    "M": by_hand,
    "A": searching(SliceFinder(candidates=30)),
    "R": searching(ResidualFinder(forest())),
}
"""The hunters, by letter."""


@dataclass(frozen=True)
class Played:
    """A team's bounty: all that was tried, and risk by turn."""

    team: str
    turns: str
    initial: dict[str, float]
    tried: list[Tried]


def played(data: Data, team: str, checker: Checker, seed: int, turns: str = TURNS) -> Played:
    """Let a team take so many turns, the mixed one these."""
    turns = TEAMS[team] * len(turns) or turns
    board = Board(data, checker)
    hunters = {letter: hunt(board, seed) for letter, hunt in HUNTERS.items()}
    initial, tried = board.risks(), list[Tried]()
    for turn, letter in enumerate(turns, start=1):
        for certificate in islice(hunters[letter], TRIES):
            if certificate is not None:
                tried.append(board.submit(certificate, turn, letter))
                if tried[-1].accepted:
                    break
    return Played(team, turns, initial, tried)


def curves(one: Played) -> dict[str, list[float]]:
    """Return overall risk after each turn, on each part."""
    last = {tried.turn: tried for tried in one.tried}
    found = {part: [risk] for part, risk in one.initial.items()}
    for turn in range(1, len(one.turns) + 1):
        for part, risks in found.items():
            risks.append(getattr(last[turn], part).overall if turn in last else risks[-1])
    return found


def tally(one: Played) -> dict[str, Any]:
    """Sum up a team's bounty, by kind of hunter: what was accepted, and what it contributes where."""
    return {
        "team": one.team,
        "initial": one.initial,
        "last": {part: _last(one, part) for part in one.initial},
        "kinds": {kind: _kind(one, kind) for kind in dict.fromkeys(one.turns)},
    }


def _last(one: Played, part: str) -> float:
    claims = [getattr(tried, part) for tried in one.tried]
    return float(claims[-1].overall) if claims else one.initial[part]


def _kind(one: Played, kind: str) -> dict[str, Any]:
    tried = [each for each in one.tried if each.hunter == kind]
    accepted = [each for each in tried if each.accepted]
    return {
        "tried": len(tried),
        "accepted": len(accepted),
        "repairs": sum(each.repairs for each in accepted),
        "better_on_fresh": sum(each.fresh.contribution > 0 for each in accepted),
        "contribution": {
            "holdout": round(sum(each.holdout.contribution for each in accepted), 6),
            "fresh": round(sum(each.fresh.contribution for each in accepted), 6),
        },
        "change": {part: _change(one, kind, part) for part in ("holdout", "fresh")},
    }


def _change(one: Played, kind: str, part: str) -> float:
    """Return by how much overall risk fell at what this kind submitted, repairs included."""
    risks = [one.initial[part], *(getattr(each, part).overall for each in one.tried)]
    falls = [
        earlier - later
        for earlier, later, each in zip(risks, risks[1:], one.tried, strict=False)
        if each.hunter == kind
    ]
    return round(float(sum(falls)), 6)


def measured(sample: Sample, texts: Texts, divisions: int, turns: str = TURNS) -> dict[str, Any]:
    """Let every team play under every checker, in every division of the rows; tell the first in full."""
    first, by_turn = dict[str, Any](), {name: dict[str, Any]() for name in CHECKERS}
    tallies: dict[str, list[dict[str, Any]]] = {name: [] for name in CHECKERS}
    acceptances: dict[str, list[Any]] = {name: [] for name in CHECKERS}
    for seed in range(divisions):
        data = Data.of(sample, texts, seed)
        for name, checker in CHECKERS.items():
            for team in TEAMS:
                one = played(data, team, checker, seed, turns)
                tallies[name].append({"division": seed, **tally(one)})
                console.print(_line(name, tallies[name][-1]))
                by_turn[name].setdefault(team, curves(one))
                if team == "mixed":
                    first.setdefault(name, asdict(one))
                    acceptances[name] += [_point(each) for each in one.tried if each.accepted]
    rows = {
        "learned": data.seen.y_train,
        "searched": data.searched[1],
        "public": data.public[1],
        "holdout": data.seen.y_holdout,
        "fresh": data.fresh[1],
    }
    return {
        "source": sample.source,
        "rows": {part: len(y) for part, y in rows.items()},
        "turns": turns,
        "tries": TRIES,
        "first": first,
        "curves": by_turn,
        "tallies": tallies,
        "acceptances": acceptances,
    }


def _point(one: Tried) -> list[Any]:
    return [one.hunter, round(one.holdout.contribution, 7), round(one.fresh.contribution, 7)]


def _line(checker: str, one: dict[str, Any]) -> str:
    kinds = one["kinds"].values()
    accepted, tried, repairs = (sum(kind[what] for kind in kinds) for what in ("accepted", "tried", "repairs"))
    last = ", ".join(f"{part} {one['initial'][part]:.4f} -> {one['last'][part]:.4f}" for part in one["last"])
    return f"  {checker}, division {one['division']}, {one['team']}: {accepted} of {tried}, {repairs} repairs; {last}"


def experiment(request: Request) -> None:
    """Let the teams play, draw what became of it, and write the page."""
    if request.online:
        raise SettingsError(
            "hunters cannot use folktables: expected the file of all states; name its folder with --data"
        )
    output = Output(request.out, "hunters")
    states = load_states(request.file(sources.INCOMES))
    sample = _some(states.sample, 5_000) if request.quick else states.sample
    turns = QUICK if request.quick else TURNS
    console.print(f"income: teams of {len(turns)} turns on {len(sample.y):,} people ...")
    figures = measured(sample, states.texts, 1 if request.quick else DIVISIONS, turns)
    output.chart("risks", risks_chart(figures))
    output.chart("contributions", contributions_chart(figures))
    console.print(f"written: {output.page(figures, parts)}")


def _some(sample: Sample, rows: int) -> Sample:
    return Sample(sample.X[:rows], sample.y[:rows], sample.columns, sample.source)


if __name__ == "__main__":
    sources.run("hunters", str(__doc__), experiment)
