"""Charts of benchmarks/out/finders.json: what finders find beside what it takes, and the risks of models."""

from typing import Any

from biasbounty.reporting.charts import to_svg


def drawn(written: dict[str, Any]) -> dict[str, str]:
    """Return the charts of the parts that were run, as SVG, by the name of the part."""
    found = [one for part in written.values() for one in part.get("found", ())]
    means = written.get("models", {}).get("means", ())
    made = {"slices": to_svg(slices(found))} if found else {}
    return made | ({"models": to_svg(models(means))} if means else {})


def slices(found: list[dict[str, Any]]) -> Any:
    """Draw what patching by each finder's slices is worth against its processor seconds, world by world."""
    import altair as alt

    kept = ("world", "finder", "ranking", "together", "processor_seconds")
    points = [{key: one[key] for key in kept} for one in found if one["failure"] is None and one["processor_seconds"]]
    named = [{**one, "finder": _named(one)} for one in points]
    return (
        alt.Chart({"values": named})
        .mark_point(filled=True, size=90)
        .encode(
            x=alt.X("processor_seconds:Q", title="processor seconds", scale=alt.Scale(type="log")),
            y=alt.Y("together:Q", title="fall of risk on the holdout"),
            color=alt.Color("finder:N", title="finder", scale=alt.Scale(scheme="tableau20")),
            shape=alt.Shape("finder:N", title="finder"),
        )
        .properties(width=260, height=240)
        .facet(column=alt.Column("world:N", title=None))
    )


def _named(one: dict[str, Any]) -> str:
    peer = one["finder"].startswith("divexplorer")
    return f"{one['finder']}, {one['ranking']}" if peer else str(one["finder"])


def models(means: list[dict[str, Any]]) -> Any:
    """Draw the overall risk of each model, and that of the larger group that is worst off."""
    import altair as alt

    measures = {"overall": "risk", "worst of the larger groups": "worst of the larger"}
    points = [
        {"model": one["model"], "risk": one[key], "whose": whose}
        for one in means
        if "failure" not in one
        for whose, key in measures.items()
    ]
    return (
        alt.Chart({"values": points})
        .mark_point(filled=True, size=80)
        .encode(
            x=alt.X("risk:Q", title="risk on rows that nobody trained or judged on", scale=alt.Scale(zero=False)),
            y=alt.Y("model:N", title=None, sort=None, axis=alt.Axis(labelLimit=400)),
            color=alt.Color("whose:N", title="risk"),
        )
        .properties(width=420, height=22 * len(means))
    )
