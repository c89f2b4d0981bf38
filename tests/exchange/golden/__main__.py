"""Write the golden file of the newest version: `python -m tests.exchange.golden`. One that is there is left alone."""

import json

from biasbounty.exchange.archive import VERSION, save
from tests.exchange.golden import HERE, answers_in_every_round, golden_list

path = HERE / f"list-v{VERSION}.zip"
if not path.exists():
    save(golden_list(), path)
    path.with_suffix(".json").write_text(json.dumps(answers_in_every_round(golden_list())) + "\n")
