"""The page and the charts of `guarantee`: what was accepted, what of it is real, and what both risks came to."""

from collections.abc import Iterator
from typing import Any

from biasbounty.reporting.charts import INK, PALETTE
from experiments.output import OTHER_RUN, Figures, styled, table

CHECKERS = {
    "Plain": PALETTE[1],
    "Paper, small holdout": PALETTE[4],
    "Anytime": PALETTE[0],
    "Anytime, epsilon 0": PALETTE[2],
}
"""A checker has the same color in every chart."""
KINDS = {"truly better": PALETTE[9], "not better": PALETTE[6]}
FULL = (70_131, 20)
"""The people and the runs of the run that the page's words are about."""
PANELS = {"width": 310, "height": 190}


def risks_chart(figures: Figures) -> Any:
    """Draw both risks by submission, a panel for each kind of hunters: dashed on the holdout, solid in truth."""
    import altair as alt

    panels = [
        alt.Chart({"values": list(_curves(figures, hunt))}, title=_title(figures, hunt))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("submission:Q", title="submissions", axis=alt.Axis(grid=False, tickCount=6)),
            y=alt.Y("risk:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(format=".3f")),
            color=alt.Color("checker:N", title="checker", scale=_scale(alt, CHECKERS), legend=_legend(alt)),
            strokeDash=alt.StrokeDash(
                "where:N",
                title="risk",
                scale=alt.Scale(domain=["on the holdout", "in truth"], range=[[4, 3], [1, 0]]),
                legend=alt.Legend(symbolType="stroke", symbolStrokeColor=INK),
            ),
        )
        .properties(**PANELS)
        for hunt in _hunts(figures)
    ]
    return styled(alt.concat(*panels, columns=2, spacing=26))


def truth_chart(figures: Figures) -> Any:
    """Draw how many updates and repairs each checker accepts in a run, and how many of them are truly better."""
    import altair as alt

    panels = [
        alt.Chart({"values": list(_accepted(figures, hunt))}, title=_title(figures, hunt))
        .mark_bar()
        .encode(
            x=alt.X("count:Q", title="accepted in a run, repairs included", axis=alt.Axis(tickCount=5)),
            y=alt.Y("checker:N", title=None, sort=list(CHECKERS), axis=alt.Axis(labelLimit=200)),
            color=alt.Color("kind:N", title=None, scale=_scale(alt, KINDS)),
            order=alt.Order("place:Q"),
        )
        .properties(width=250, height=105)
        for hunt in _hunts(figures)
    ]
    return styled(alt.concat(*panels, columns=2, spacing=26))


def _scale(alt: Any, colors: dict[str, str]) -> Any:
    return alt.Scale(domain=list(colors), range=list(colors.values()))


def _legend(alt: Any) -> Any:
    return alt.Legend(symbolType="stroke", symbolStrokeWidth=3)


def _hunts(figures: Figures) -> list[str]:
    return list(dict.fromkeys(one["hunt"] for one in figures["results"]))


def _of(figures: Figures, hunt: str) -> list[Figures]:
    return [one for one in figures["results"] if one["hunt"] == hunt]


def _one(figures: Figures, hunt: str, checker: str) -> Figures:
    (found,) = (one for one in _of(figures, hunt) if one["checker"] == checker)
    return found


def _title(figures: Figures, hunt: str) -> str:
    return f"{hunt}, {_of(figures, hunt)[0]['submissions']:,} submissions"


def _curves(figures: Figures, hunt: str) -> Iterator[dict[str, Any]]:
    for one in _of(figures, hunt):
        for where, risks in (("on the holdout", one["curves"]["holdout"]), ("in truth", one["curves"]["true"])):
            step = one["submissions"] / (len(risks) - 1)
            for number, risk in enumerate(risks):
                yield {"checker": one["checker"], "where": where, "submission": number * step, "risk": risk}


def _accepted(figures: Figures, hunt: str) -> Iterator[dict[str, Any]]:
    for one in _of(figures, hunt):
        counts = (_count(one) - _false(one), _false(one))
        for place, (kind, count) in enumerate(zip(KINDS, counts, strict=True)):
            yield {"checker": one["checker"], "kind": kind, "place": place, "count": count}


def _count(one: Figures) -> float:
    count: float = one["updates"] + one["repairs"]
    return count


def _false(one: Figures) -> float:
    false: float = one["false_updates"] + one["false_repairs"]
    return false


def _overfit(one: Figures) -> float:
    """Return by how much more the risk fell on the holdout than in truth."""
    on_holdout, true = one["first_holdout_risk"] - one["holdout_risk"], one["first_risk"] - one["true_risk"]
    fall: float = on_holdout - true
    return fall


def parts(figures: Figures) -> dict[str, str]:
    """Return what stands where in the page."""
    world, settings, results = figures["world"], figures["settings"], figures["results"]
    return {
        "note": "" if (world["rows"], results[0]["runs"]) == FULL else OTHER_RUN,
        "accepted": _acceptances(results, settings["epsilon"] / 2),
        "risks": _risks(results),
        "paid": _payments([one for one in results if one["pot"]]),
        "rows": f"{world['rows']:,}",
        "train": f"{world['train']:,}",
        "holdout": f"{world['holdout']:,}",
        "fresh": f"{world['fresh']:,}",
        "least_risk": f"{world['least_risk']:.4f}",
        "first_risk": f"{results[0]['first_risk']:.4f}",
        "doubtful": f"{world['doubtful']:.0%}",
        "epsilon": f"{settings['epsilon']:g}",
        "half": f"{settings['epsilon'] / 2:g}",
        "threshold": f"{0.75 * settings['epsilon']:g}",
        "sure": f"{1 - settings['delta']:g}",
        "pot": f"${settings['pot'] / 100:,.0f}",
        "supported_epsilon": f"{figures['supported_epsilon']:.2f}",
        "runs": str(results[0]["runs"]),
        "random": f"{_of(figures, 'trees at random')[0]['submissions']:,}",
        "adaptive": f"{_of(figures, 'memory')[0]['submissions']:,}",
        **_promised(results),
        **_told(figures),
    }


def _acceptances(results: list[Figures], half: float) -> str:
    headings = ["hunters, checker", "updates", "repairs", "not better in truth", "not better on the fresh people"]
    runs = ["is not better", f"contributes {half:g} or less", "breaks the promise"]
    return table(
        [*headings, *(f"runs with one that {what}" for what in runs)],
        [
            [
                f"{one['hunt']}, {one['checker']}",
                *(f"{one[kind]:.2f}" for kind in ("updates", "repairs")),
                f"{_false(one):.2f}",
                f"{one['false_on_fresh']:.2f}",
                *(f"{one[what]} of {one['runs']}" for what in ("runs_with_false", "runs_below_half_epsilon")),
                _below(one),
            ]
            for one in results
        ],
    )


def _below(one: Figures) -> str:
    if one["promised"] is None:
        return "nothing promised"
    return f"{one['runs_below_promise']} of {one['runs']} (more than {one['promised']:g})"


def _risks(results: list[Figures]) -> str:
    return table(
        ["hunters, checker", "holdout risk", "true risk", "on the fresh people", "overfitting"],
        [
            [
                f"{one['hunt']}, {one['checker']}",
                f"{one['first_holdout_risk']:.4f} -> {one['holdout_risk']:.4f}",
                f"{one['first_risk']:.4f} -> {one['true_risk']:.4f}",
                f"{one['fresh_risk']:.4f}",
                f"{_overfit(one):.4f}",
            ]
            for one in results
        ],
    )


def _payments(results: list[Figures]) -> str:
    return table(
        ["hunters, checker", "paid", "what the fall of true risk is worth", "fall of holdout risk, at the same rate"],
        [
            [
                f"{one['hunt']}, {one['checker']}",
                _dollars(one["paid"]),
                _dollars(_worth(one)),
                _dollars(one["pot"] * (one["first_holdout_risk"] - one["holdout_risk"])),
            ]
            for one in results
        ],
    )


def _worth(one: Figures) -> float:
    """Return what the fall of true risk would earn, in cents."""
    cents: float = one["pot"] * (one["first_risk"] - one["true_risk"])
    return cents


def _dollars(cents: float) -> str:
    words = f"${abs(cents) / 100:,.2f}"
    return f"-{words}" if round(cents) < 0 else words


def _promised(results: list[Figures]) -> dict[str, str]:
    """Count, over all hunters, the runs of the checkers that promise something, and those where it did not hold."""
    own = [one for one in results if one["promised"] is not None]
    return {
        "promising_runs": str(sum(one["runs"] for one in own)),
        "broken_runs": str(sum(one["runs_below_promise"] for one in own)),
        "farthest_fresh": f"{max(one['farthest_fresh'] for one in results):.4f}",
    }


def _told(figures: Figures) -> dict[str, str]:
    """Return the figures that the text speaks of."""
    plain = {hunt: _one(figures, hunt, "Plain") for hunt in _hunts(figures)}
    memory, ladder, honest = plain["memory"], plain["ladder"], plain["trees at random"]
    anytime = _one(figures, "trees at random", "Anytime")
    kept = _one(figures, "trees at random", "Anytime, epsilon 0")
    paper = {hunt: _one(figures, hunt, "Paper, small holdout") for hunt in _hunts(figures)}
    return {
        "eleven_false": f"{_false(plain['eleven groups']):.1f} of {_count(plain['eleven groups']):.1f}",
        "honest_false": f"{_false(honest):.1f} of {_count(honest):.1f}",
        "honest_repairs": f"{honest['false_repairs']:.1f} of {honest['repairs']:.1f}",
        "honest_true": f"{honest['true_risk']:.4f}",
        "honest_overfit": f"{_overfit(honest):.4f}",
        "anytime_true": f"{anytime['true_risk']:.4f}",
        "anytime_zero_true": f"{kept['true_risk']:.4f}",
        "memory_false": f"{_false(memory):.0f} of {_count(memory):.0f}",
        "memory_holdout": f"{memory['first_holdout_risk']:.4f} -> {memory['holdout_risk']:.4f}",
        "memory_true": f"{memory['first_risk']:.4f} -> {memory['true_risk']:.4f}",
        "memory_overfit": f"{_overfit(memory):.3f}",
        "ladder_false": f"{_false(ladder):.0f} of {_count(ladder):.0f}",
        "ladder_overfit": f"{_overfit(ladder):.3f}",
        "ladder_paid": _dollars(ladder["paid"]),
        "ladder_worth": _dollars(_worth(ladder)),
        "paper_false": str(sum(one["runs_with_false"] for one in paper.values())),
        "paper_runs": str(sum(one["runs"] for one in paper.values())),
        "paper_ladder_below": f"{paper['ladder']['runs_below_half_epsilon']} of {paper['ladder']['runs']}",
        "paper_ladder_paid": _dollars(paper["ladder"]["paid"]),
        "paper_ladder_worth": _dollars(_worth(paper["ladder"])),
    }
