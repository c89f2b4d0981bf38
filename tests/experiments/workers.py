"""Small files in the layout of the all-state files of workers, with made-up people: a clone has no others."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from biasbounty.datasets.states import _CODES, _DISABILITIES

OCCUPATIONS = ("MED-Registered Nurses", "MGR-Other Managers", "OFF-Office Clerks, General", "SAL-Cashiers")
PLACES = ("California/CA", "Texas/TX")


def write_workers(path: Path, rows: int = 3_000, *, hours: bool = False, seed: int = 0) -> Path:
    """Write a file of so many people: with hours and a label as the income file has, or with all else."""
    rng = np.random.default_rng(seed)
    names = {"Workclass": "COW", "Education": "SCHL", "Marital Status": "MAR", "Gender": "SEX", "Race": "RAC1P"}
    codes = {column: rng.integers(len(_CODES[name]), size=rows) for column, name in names.items()}
    table: dict[str, Any] = {column: np.array(_CODES[names[column]])[code] for column, code in codes.items()}
    occupations = rng.integers(len(OCCUPATIONS), size=rows)
    table["State"] = np.array(PLACES)[rng.integers(2, size=rows)]
    table["Age"] = rng.integers(17, 80, size=rows)
    table["Occupation"] = np.array(OCCUPATIONS)[occupations]
    table["Place of birth"] = np.array(["United States", "Mexico"])[rng.integers(2, size=rows)]
    score = codes["Education"] / 6 + np.where(codes["Gender"] == 1, -occupations, occupations) + table["Age"] / 30
    rich = score + rng.normal(size=rows) > 4
    parquet.write_table(pa.table(table | (_of_incomes(rng, rich) if hours else _of_workers(rng, rich))), path)
    return path


def _of_incomes(rng: np.random.Generator, rich: Any) -> dict[str, Any]:
    return {"Hours per Week": rng.integers(1, 90, size=len(rich)).astype(float), "Income50k": rich}


def _of_workers(rng: np.random.Generator, rich: Any) -> dict[str, Any]:
    texts = {
        "Citizenship status": "CIT",
        "Mobility status": "MIG",
        "Employment status of parents": "ESP",
        "Means of transportation to work": "JWTR",
    }
    drawn = {
        column: np.array(_CODES[name])[rng.integers(len(_CODES[name]), size=len(rich))]
        for column, name in texts.items()
    }
    ills = {column: np.array(["Yes", "No"])[rng.integers(2, size=len(rich))] for column in _DISABILITIES}
    away = np.where(rich, rng.normal(30, 10, len(rich)), rng.normal(15, 10, len(rich)))
    return {**drawn, **ills, "Income": np.where(rich, 80_000.0, 20_000.0), "Travel time to work": away}
