"""A whole bounty by the command line: the organizer's commands at the database, hunters' at a real server."""

import json
import stat
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.server.webhooks import SIGNATURE, is_signed
from tests.cli.running import run, run_json, serving
from tests.client.stage import rows
from tests.exchange.onnx_models import always, below
from tests.postgres import postgres


@dataclass(frozen=True)
class Organized:
    """An installation with a bounty, and a server of it."""

    home: Path
    bounty: str
    hunter: dict[str, str]
    """A hunter's environment."""

    def local(self, *words: str) -> Any:
        """Run a command of the organizer's."""
        return run("--home", str(self.home), *words)


def _write(folder: Path) -> Path:
    part = rows()
    table = part.X.append_column("label", pa.array(part.y))
    parquet.write_table(table, folder / "rows.parquet")
    csv.write_csv(table, folder / "rows.csv")
    (folder / "zero.onnx").write_bytes(always(0, "AGEP"))
    (folder / "one.onnx").write_bytes(always(1, "AGEP"))
    (folder / "group.onnx").write_bytes(below("AGEP", 40))
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write(tmp_path_factory.mktemp("files"))


def _open(home: Path, files: Path, *options: str) -> Any:
    given = ("--name", "Jobs", "--label", "label", "--model", str(files / "zero.onnx"), "--pot", "100000")
    return run("--home", str(home), "open", *given, *options)


@pytest.fixture
def organized(tmp_path: Path, files: Path) -> Iterator[Organized]:
    home = tmp_path / "home"
    assert run("--home", str(home), "init").exit_code == 0
    opened = _open(home, files, "--data", str(files / "rows.parquet"), "--json")
    bounty = json.loads(opened.stdout)["bounty"]["id"]
    token = run_json("--home", str(home), "token", "create", "--label", "one", "--name", "Ann")["token"]
    with serving(home) as url:
        yield Organized(home, bounty, {"BIASBOUNTY_URL": url, "BIASBOUNTY_TOKEN": token})


def test_init_prints_the_token_once_and_keeps_the_folder_to_its_owner(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = run("--home", str(home), "init")
    assert first.exit_code == 0
    assert first.stdout.strip().startswith("bb_")
    assert "shown once" in first.stderr
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    again = run("init", BIASBOUNTY_HOME=str(home))
    assert again.exit_code == 5
    assert again.stderr.startswith("Error: service has tokens already")
    assert first.stdout.strip() not in (home / "biasbounty.db").read_bytes().decode("latin-1")


def test_a_bounty_from_its_opening_to_its_verified_end(organized: Organized, files: Path, tmp_path: Path) -> None:
    hunter, one = organized.hunter, str(files / "one.onnx")
    tried = run_json("preflight", "AGEP < 40", "--model", one, **hunter)
    assert tried["risk_after"] == 0
    done = run_json("submit", "AGEP < 40", "--model", one, "--note", "the young", **hunter)
    assert done["accepted"]
    assert done["verdict"]["payout"] > 0
    by_file = run("submit", f"@{files / 'group.onnx'}", "--model", one, **hunter)
    assert "(number 2): rejected." in by_file.output
    assert by_file.exit_code == 0
    fitted = run("submit", "job = 'judge'", **hunter)
    assert "Model: a tree of depth" in fitted.output
    assert "accepted: it makes round 2" in fitted.output
    hunted = run_json("hunt", "--submissions", "1", "--finder", "residual", **hunter)
    assert len(hunted["submissions"]) <= 1

    status = run_json("status", **hunter)
    assert [each["place"] for each in status["submissions"]] == list(range(3 + len(hunted["submissions"])))
    assert status["leaderboard"][0]["name"] == "Ann"
    local = organized.local("status")
    assert "the young" in local.output
    assert "Ann" in local.output

    closed = json.loads(organized.local("close", "--json").stdout)
    assert closed["state"] in ("closed", "closing")
    out = tmp_path / "out"
    exported = organized.local("export", "--everything", "--out", str(out))
    assert exported.exit_code == 0, exported.output
    assert stat.S_IMODE((out / "ledger-secret.zip").stat().st_mode) == 0o600
    assert OnnxModel((out / "model.onnx").read_bytes())(rows(20).X).shape == (20,)

    receipt = tmp_path / "receipt.json"
    receipt.write_text(json.dumps(done))
    verified = run_json("ledger", "verify", str(out / "ledger.zip"), "--receipt", str(receipt))
    assert verified["receipts"] == 1
    head = f"{verified['entries']}:{verified['hash']}"
    assert run("ledger", "verify", str(out / "ledger.zip"), "--receipt", head).exit_code == 0
    replayed = run_json("ledger", "replay", str(out / "ledger.zip"))
    assert (replayed["verdicts"], replayed["newest"]) == (len(status["submissions"]), closed["round"])
    anew = run("ledger", "replay", "--judge", str(out / "ledger-secret.zip"))
    assert f"{len(status['submissions'])} verdicts" in anew.output
    assert "judged anew" in anew.output

    report = organized.local("report", "--out", str(tmp_path / "report.html"))
    assert report.exit_code == 0, report.output
    assert "the young" in (tmp_path / "report.html").read_text()


def test_states_quota_and_strangers_are_told_by_exit_code(organized: Organized, files: Path) -> None:
    hunter, one = organized.hunter, str(files / "one.onnx")
    submit = ("submit", "AGEP < 40", "--model", one)
    assert organized.local("pause").output == f"{organized.bounty} (Jobs) is paused.\n"
    paused = run(*submit, **hunter)
    assert (paused.exit_code, "bounty is paused" in paused.stderr) == (5, True)
    assert organized.local("pause").exit_code == 5
    assert organized.local("resume").exit_code == 0
    assert run("submit", "AGEP <", "--model", one, **hunter).exit_code == 3
    assert run("submit", "wage < 40", "--model", one, **hunter).exit_code == 3
    assert run("submit", "AGEP < 40", "--model", str(files / "rows.csv"), **hunter).exit_code == 3
    assert run(*submit, "--bounty", "0123456789abcdef", **hunter).exit_code == 4
    wrong = run(*submit, **{**hunter, "BIASBOUNTY_TOKEN": "bb_wrong"})
    assert wrong.exit_code == 4
    assert "bb_wrong" not in wrong.output
    assert run(*submit, **dict.fromkeys(hunter, "")).exit_code == 2


def test_tokens_are_listed_renewed_and_revoked_without_being_shown(organized: Organized) -> None:
    listed = json.loads(organized.local("token", "list", "--json").stdout)
    (mine,) = [each for each in listed if each["scope"] == "hunter"]
    assert organized.hunter["BIASBOUNTY_TOKEN"] not in organized.local("token", "list").output
    renewed = json.loads(organized.local("token", "renew", mine["id"], "--json").stdout)
    assert renewed["hunter"] == mine["hunter"]
    old = run("hunt", "--finder", "slices", **organized.hunter)
    assert old.exit_code == 4
    assert organized.local("token", "revoke", renewed["id"]).exit_code == 0
    assert organized.local("token", "revoke", "nobody").exit_code == 4
    assert organized.local("token", "create", "--label", "x", "--scope", "king").exit_code == 2


def test_a_worker_without_a_server_scores_and_judges_until_nothing_is_left(tmp_path: Path, files: Path) -> None:
    home = tmp_path / "home"
    run("--home", str(home), "init")
    assert _open(home, files, "--data", str(files / "rows.csv")).exit_code == 0
    token = run_json("--home", str(home), "token", "create", "--label", "one")["token"]
    with serving(home, "--workers", "0") as url:
        hunter = {"BIASBOUNTY_URL": url, "BIASBOUNTY_TOKEN": token}
        waiting = run_json("submit", "AGEP < 40", "--model", str(files / "one.onnx"), "--no-wait", **hunter)
        assert not waiting["accepted"]
        same = run_json("submit", "AGEP < 40", "--model", str(files / "one.onnx"), "--no-wait", "--key", "1", **hunter)
        again = run_json("submit", "AGEP < 40", "--model", str(files / "one.onnx"), "--no-wait", "--key", "1", **hunter)
        assert same["id"] == again["id"]
    worked = run("--home", str(home), "worker", "--judge", "--until-idle", "--hold", "0")
    assert worked.exit_code == 0, worked.output
    status = run_json("--home", str(home), "status")
    assert [each["state"] for each in status["submissions"]] == ["judged", "judged"]
    assert status["bounty"]["round"] == 1
    assert run("--home", str(home), "rotate").exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "rows are not given: expected either --data, or all of --train, --public and --holdout"),
        (("--data", "rows.csv", "--train", "rows.csv"), "rows are not given"),
        (("--data", "zero.onnx"), "rows cannot be read: expected Parquet, or CSV"),
        (("--data", "rows.csv", "--loss", "hinge"), "loss is unknown"),
        (("--data", "rows.csv", "--share-public", "0.9"), "shares are out of range"),
        (("--train", "rows.csv", "--public", "rows.csv"), "rows are not given"),
    ],
)
def test_what_cannot_be_opened_is_told_in_one_line(
    tmp_path: Path, files: Path, options: tuple[str, ...], words: str
) -> None:
    home = tmp_path / "home"
    run("--home", str(home), "init")
    given = [str(files / each) if (files / each).is_file() else each for each in options]
    done = _open(home, files, *given)
    assert done.exit_code == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    assert words in line
    as_json = json.loads(_open(home, files, *given, "--json").stderr)
    assert as_json["error"] == "SettingsError"
    assert as_json["exit_code"] == 2
    assert words in as_json["detail"]


def test_three_files_are_taken_as_they_are_and_what_looks_like_a_slip_is_said(tmp_path: Path, files: Path) -> None:
    home = tmp_path / "home"
    run("--home", str(home), "init")
    parts = [word for name in ("train", "public", "holdout") for word in (f"--{name}", str(files / "rows.parquet"))]
    done = _open(home, files, *parts)
    assert done.exit_code == 0
    assert "6,000 train rows, 6,000 public, 6,000 holdout." in done.output
    assert "6000 of 6000 holdout rows also stand in the" in " ".join(done.output.split())
    assert '"cook", "judge", "smith"' in done.output
    assert all(len(line) < 80 for line in done.output.splitlines())


def test_without_an_installation_or_a_server_the_error_says_what_to_do(tmp_path: Path) -> None:
    lacking = run("--home", str(tmp_path / "nowhere"), "serve")
    assert lacking.exit_code == 2
    assert "run `biasbounty init`" in lacking.stderr
    assert not (tmp_path / "nowhere").exists()
    silent = run("--database-url", "postgresql://nobody@127.0.0.1:9/none", "status")
    assert silent.exit_code == 6
    away = run("status", "--url", "http://127.0.0.1:9", "--token", "bb_x")
    assert away.exit_code == 6
    assert "server cannot be reached: expected one at http://127.0.0.1:9" in away.stderr


def test_a_ledger_that_was_changed_is_not_verified(organized: Organized, tmp_path: Path) -> None:
    out = tmp_path / "out"
    organized.local("rotate")
    organized.local("export", "--out", str(out))
    with zipfile.ZipFile(out / "ledger.zip") as archive:
        text = archive.read("ledger.jsonl")
    plain = tmp_path / "ledger.jsonl"
    plain.write_bytes(text)
    assert run("ledger", "verify", str(plain)).exit_code == 0
    plain.write_bytes(text.replace(b"100000", b"100001"))
    changed = run("ledger", "verify", str(plain))
    assert changed.exit_code == 7
    assert "was changed" in changed.stderr
    assert run("ledger", "replay", str(plain)).exit_code == 7
    assert run("ledger", "verify", str(out / "ledger.zip"), "--receipt", f"1:{'0' * 64}").exit_code == 7
    assert run("ledger", "verify", str(out / "ledger.zip"), "--receipt", "yesterday").exit_code == 2
    assert run("ledger", "replay", "--judge", str(out / "ledger.zip")).exit_code == 7
    assert run("ledger", "verify", str(tmp_path / "none")).exit_code == 2


def test_on_postgresql_serve_and_worker_share_one_database(tmp_path: Path, files: Path) -> None:
    url = postgres().new_url()
    here = ("--database-url", url)
    assert run_json(*here, "init")["home"] is None
    given = ("--name", "Jobs", "--label", "label", "--model", str(files / "zero.onnx"))
    opened = run_json(*here, "open", *given, "--data", str(files / "rows.parquet"))
    token = run_json(*here, "token", "create", "--label", "one")["token"]
    with serving(tmp_path, "--workers", "0", place=here) as address:
        hunter = {"BIASBOUNTY_URL": address, "BIASBOUNTY_TOKEN": token}
        one = str(files / "one.onnx")
        assert not run_json("submit", "AGEP < 40", "--model", one, "--no-wait", **hunter)["accepted"]
        assert run(*here, "worker", "--until-idle", "--hold", "0").exit_code == 0
        assert run_json("submit", "AGEP < 40", "--model", one, "--no-wait", "--key", "k", **hunter)["place"] == 1
        assert run(*here, "worker", "--judge", "--until-idle", "--hold", "0").exit_code == 0
    status = run_json(*here, "status")
    assert status["bounty"]["id"] == opened["bounty"]["id"]
    assert (status["bounty"]["judged"], status["bounty"]["round"]) == (2, 1)
    away = run("--database-url", "postgresql://someone:word@127.0.0.1:9/none", "status")
    assert away.exit_code == 6
    assert "word" not in away.output


def test_events_are_posted_to_the_address_that_the_organizer_names(tmp_path: Path, files: Path) -> None:
    taken: Queue[tuple[bytes, str]] = Queue()

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.put((self.rfile.read(int(self.headers["Content-Length"])), self.headers[SIGNATURE]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    secret = "sixteen letters and more"  # noqa: S105
    home = ("--home", str(tmp_path))
    run(*home, "init")
    assert _open(tmp_path, files, "--data", str(files / "rows.parquet")).exit_code == 0
    with HTTPServer(("127.0.0.1", 0), Taker) as listener:
        thread = Thread(target=listener.serve_forever, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.server_port}/"
        try:
            with serving(tmp_path, "--webhook", address, "--webhook-secret", secret):
                assert run(*home, "pause").exit_code == 0
                while json.loads((got := taken.get(timeout=30))[0])["kind"] != "paused":
                    pass
        finally:
            listener.shutdown()
            thread.join()
    assert is_signed(secret, *got, int(time.time()))
    short = run(*home, "serve", "--webhook", address, "--webhook-secret", "short")
    assert short.exit_code == 2
    assert "webhook's secret is too short" in short.stderr


def test_a_backup_goes_on_where_it_was_made_and_replaces_nothing(organized: Organized, tmp_path: Path) -> None:
    file, other = tmp_path / "kept.db", tmp_path / "other"
    assert organized.local("backup", str(file)).exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("--home", str(other), "restore", str(file)).exit_code == 0
    with serving(other) as url:
        again = {**organized.hunter, "BIASBOUNTY_URL": url}
        assert run_json("status", **again)["bounty"]["id"] == organized.bounty
    for words in (("backup", str(file)), ("restore", str(file))):
        refused = organized.local(*words)
        assert refused.exit_code == 2, refused.output
        assert "Traceback" not in refused.stderr
