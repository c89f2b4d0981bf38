"""Small person files in the Census's layout: the columns that the four tasks ask for, and a few that they do not."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

CODES = {
    "AGEP": (0, 95), "SCHL": (1, 24), "MAR": (1, 5), "RELP": (0, 17), "DIS": (1, 2), "ESP": (1, 8), "CIT": (1, 5),
    "MIG": (1, 3), "MIL": (1, 4), "ANC": (1, 4), "NATIVITY": (1, 2), "DEAR": (1, 2), "DEYE": (1, 2), "DREM": (1, 2),
    "SEX": (1, 2), "RAC1P": (1, 9), "ESR": (1, 6), "COW": (1, 9), "OCCP": (10, 9830), "POBP": (1, 554),
    "WKHP": (1, 99), "PINCP": (0, 90_000), "PWGTP": (1, 200), "FER": (1, 2), "PUBCOV": (1, 2), "ST": (1, 56),
    "PUMA": (100, 9000), "POWPUMA": (100, 9000), "JWTR": (1, 12), "JWMNP": (1, 99), "POVPIP": (0, 501),
}  # fmt: skip
"""The least and the largest code of each column."""
STATES = {"NY": "36", "OR": "41", "FL": "12", "TX": "48", "MA": "25"}


def people(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Draw people; who is of working age and has gone to school is mostly employed."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        row: dict[str, Any] = {"RT": "P", "SERIALNO": f"2018GQ{number:07}"}
        row |= {name: int(rng.integers(low, high + 1)) for name, (low, high) in CODES.items()}
        employed = 20 <= row["AGEP"] < 65 and row["SCHL"] > 8 and rng.random() < 0.9
        rows.append(row | {"ESR": 1 if employed else 6})
    return rows


def write_person_file(folder: Path, state: str, rows: list[dict[str, Any]], year: int = 2018) -> None:
    """Write them where folktables looks for a state's file; what is None is left empty, as the Census does."""
    name = f"psam_p{STATES[state]}.csv" if year >= 2017 else f"ss{year % 100}p{state.lower()}.csv"
    own = folder / str(year) / "1-Year"
    own.mkdir(parents=True, exist_ok=True)
    with (own / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
