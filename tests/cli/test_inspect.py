"""``bayesieve inspect``, and what commands tell of the columns they read."""

from __future__ import annotations

import csv
import json
import shlex

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pandas")

from bayesieve.cli import main
from bayesieve.persistence import load_model

N = 400


@pytest.fixture
def table(tmp_path):
    """Write a table whose column `income` tells the label, in a way to write it."""
    rng = np.random.default_rng(0)
    income = rng.integers(10_000, 40_000, N)

    def write(name, form, sep=",", head=("id", "income", "age", "bought")):
        path = tmp_path / name
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=sep)
            writer.writerow(head)
            for i, value in enumerate(income.tolist()):
                label = "yes" if value > 25_000 else "no"
                writer.writerow([i + 1, form(value), 20 + i % 60, label])
        return str(path)

    return write


def decimal_comma(value):
    return f"{value:.2f}".replace(".", ",")


WAYS = {
    "plain": (lambda v: f"{v:.1f}", ",", ""),
    "thousands": (lambda v: f"{v:,}", ",", "--thousands ,"),
    "comma": (decimal_comma, ";", "as"),
    "german": (
        lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,")),
        ";",
        "as",
    ),
    "dollars": (lambda v: f"${v:,.2f}", ",", "$"),
    "swiss": (lambda v: f"{v:,.2f}".replace(",", "'"), ",", "as"),
}


@pytest.mark.parametrize("way", WAYS)
def test_numbers_in_any_locale_give_the_same_model(table, capsys, tmp_path, way):
    form, sep, told = WAYS[way]
    path = table(f"{way}.csv", form, sep)
    model = str(tmp_path / "m")
    assert main(["select", path, "--json", "--save", model]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["evaluation"]["accuracy"] == 1.0
    assert [own["name"] for own in found["features"]] == ["income"]
    assert found["ignored"] == {"id": "identifier"}
    if told:
        assert any("'income'" in own and told in own for own in found["warnings"])
    for sentence in found["warnings"]:
        assert sentence in captured.err
    # New rows are read as those of training were.
    assert main(["predict", model, path]) == 0
    assert "100.0 % of 400 labelled rows" in capsys.readouterr().err


def test_decimal_and_thousands_are_as_said(table, capsys):
    path = table("t.csv", lambda v: f"{v:,}")
    for option in (["--decimal", ","], ["--thousands", ","], ["--thousands", "comma"]):
        assert main(["select", path, "--json", *option]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["evaluation"]["accuracy"] == 1.0
        assert not any("two ways" in own for own in found["warnings"])


def test_inspect_prints_a_table(table, capsys):
    path = table("t.csv", lambda v: f"${v:,}.00")
    assert main(["inspect", path]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "400 rows, 4 columns" in captured.out
    assert all(len(line) <= 80 for line in captured.out.splitlines()[:8])
    for name, role in (("id", "id"), ("income", "number"), ("bought", "label")):
        assert any(
            line.split()[:2] == [name, role] for line in captured.out.splitlines()
        )
    assert "tells the label in 100 % of the rows" in " ".join(captured.out.split())
    assert "bayesieve select" in captured.out


def test_inspect_as_json_and_with_options(table, capsys):
    path = table("t.csv", lambda v: f"{v:,}")
    options = ["--types", "age=category", "--drop", "i*", "--decimal", ","]
    assert main(["inspect", path, "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_rows"] == N
    assert {own["name"]: own["role"] for own in found["columns"]} == {
        "id": "ignored",
        "income": "ignored",
        "age": "category",
        "bought": "label",
    }
    assert main(["inspect", path, "--json", "--keep", "a*"]) == 0
    found = json.loads(capsys.readouterr().out)
    kept = [own["name"] for own in found["columns"] if own["role"] != "ignored"]
    assert kept == ["age"]


def test_keep_drop_and_types(table, capsys):
    path = table("t.csv", str)
    for options, names in (
        (["--keep", "[ai]*", "--label", "bought"], {"income"}),
        (["--keep", "age", "--label", "bought"], set()),
        (["--drop", "inc*"], set()),
        (["--types", "income=ignore"], set()),
        (["--types", "id=number"], {"income"}),
    ):
        assert main(["select", path, "--json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {own["name"] for own in found["features"]} == names
    assert main(["select", path, "--types", "income=category", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ignored"] == {"id": "identifier"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--types", "income"], "must be COLUMN=KIND"),
        (["--types", "income=float"], "must be COLUMN=KIND"),
        (["--types", "incom=number"], "Did you mean 'income'?"),
        (["--drop", "z*"], "no column 'z*'"),
        (["--keep", "z*"], "no column 'z*'"),
        (["--drop", "bought", "--label", "bought"], "leaves 'bought' out"),
        (["--decimal", ";"], "--decimal"),
        (["--thousands", "x"], "must be a comma"),
        (["--types", "age=date"], "was said to hold dates"),
    ],
)
def test_options_that_do_not_fit(table, capsys, options, told):
    assert main(["select", table("t.csv", str), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert told in captured.err


def test_a_label_that_nothing_tells_is_doubted(tmp_path, capsys):
    rng = np.random.default_rng(1)
    path = tmp_path / "t.csv"
    rows = "\n".join(
        f"{rng.random():.4f},{rng.choice(['a', 'b'])},{rng.choice(['u', 'v'])}"
        for _ in range(300)
    )
    path.write_text(f"x,kind,colour\n{rows}\n")
    assert main(["select", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any("--label kind" in own for own in found["warnings"])


def test_columns_beside_texts_are_never_dropped_silently(tmp_path, capsys):
    path = tmp_path / "t.csv"
    words = ["good film indeed", "bad film indeed"]
    rows = "\n".join(f"{words[i % 2]} {i},{i % 7},{i % 2}" for i in range(200))
    path.write_text(f"review,stars,label\n{rows}\n")
    arguments = ["select", str(path), "--text", "review", "--label", "label"]
    assert main([*arguments, "--json", "-k", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == "terms"
    assert any("left out" in own and "'stars'" in own for own in found["warnings"])
    assert main(["path", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any("left out" in own and "'stars'" in own for own in found["warnings"])


def test_texts_and_columns_enter_one_model(tmp_path, capsys):
    """Words tell some labels and a number others; together they tell more."""
    rng = np.random.default_rng(0)
    filler = [
        "the",
        "film",
        "was",
        "seen",
        "by",
        "us",
        "on",
        "that",
        "long",
        "day",
        "and",
        "it",
        "went",
    ]
    lines = []
    for _ in range(600):
        label = int(rng.random() < 0.5)
        words = list(rng.choice(filler, 7))
        if rng.random() < 0.5:
            words.append(["bad", "good"][label])
        stars = rng.normal(2 * label if rng.random() < 0.5 else 1, 0.4)
        title = "a note of some length " + "".join(rng.choice(list("abcdef"), 6))
        lines.append(f"{title},{' '.join(words)},{stars:.2f},US,{label}")
    path, model = tmp_path / "t.csv", str(tmp_path / "m")
    head = "headline,review,stars,country,label"
    path.write_text("\n".join([head, *lines]) + "\n")
    assert main(["select", str(path), "--json", "--save", model]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["guessed"]["--text"]) == {"review", "headline"}
    assert found["ignored"] == {"country": "constant"}
    names = [own["name"] for own in found["features"]]
    assert {"stars", 'review: "good"', 'review: "bad"'} <= set(names)
    both = found["evaluation"]["log_loss"]
    for alone in (["--text", "review"], ["--keep", "stars", "--no-text"]):
        command = ["select", str(path), "--json", "--label", "label", *alone]
        assert main(command) == 0
        one = json.loads(capsys.readouterr().out)
        assert one["evaluation"]["log_loss"] > both + 0.05
    assert main(["predict", model, str(path), "--json", "--keep", "headline"]) == 0
    captured = capsys.readouterr()
    right = float(captured.err.split("%")[0].rpartition(":")[2])
    assert right > 75
    assert json.loads(captured.out.splitlines()[0])["headline"]
    # At most so many columns and words.
    texts = ["--text", "review", "--text", "headline", "--label", "label"]
    assert main(["select", str(path), "--json", "-k", "2", *texts]) == 0
    assert json.loads(capsys.readouterr().out)["k"] == 2


def test_chinese_texts_are_cut_into_characters(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = tmp_path / "zh.csv"
    good, bad = list("喜欢漂亮满意值得推荐"), list("失望难看退货差评糟糕")
    rows = []
    for i in range(200):
        own = good if i % 2 else bad
        text = "".join(rng.choice(list("我们今天在这里买了一件东西感觉") + own * 2, 25))
        rows.append(f"{text},{i % 2}")
    path.write_text("评论,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    model = str(tmp_path / "m")
    assert main(["select", str(path), "--json", "--save", model]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["evaluation"]["accuracy"] > 0.95
    assert any("Chinese" in own and "--analyzer" in own for own in found["warnings"])
    assert load_model(model).analyzer == "char"
    assert main(["select", str(path), "--json", "--analyzer", "word"]) == 0
    assert not any(
        "Chinese" in o for o in json.loads(capsys.readouterr().out)["warnings"]
    )


def test_types_of_one_text_leave_the_other_texts(tmp_path, capsys):
    rows = "\n".join(
        f"some words on topic {i},more words that say {'good' if i % 2 else 'bad'} {i},"
        f"{i % 2}"
        for i in range(200)
    )
    path = tmp_path / "t.csv"
    path.write_text(f"subject,message,label\n{rows}\n")
    options = ["--types", "message=text", "--label", "label"]
    assert main(["select", str(path), "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["guessed"] == {"--text": "subject"}
    assert found["ignored"] == {}
    assert found["evaluation"]["accuracy"] == 1.0


def test_predict_reads_what_is_said_and_counts_what_it_cannot_read(table, capsys):
    """Dates in another form, few odd values, and columns left out in training."""
    path = table("t.csv", str)
    model = path.replace("t.csv", "m")
    with open(path) as file:
        lines = file.read().splitlines()
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.2024" for i in range(N)]
    head, *rows = lines
    dated = [f"day,{head}", *(f"{d},{r}" for d, r in zip(days, rows, strict=True))]
    with open(path, "w") as file:
        file.write("\n".join(dated) + "\n")
    assert main(["select", path, "--save", model, "--label", "bought"]) == 0
    capsys.readouterr()
    assert main(["predict", model, path]) == 0
    assert "unlike" not in capsys.readouterr().err  # 'id' was left out then
    odd = dated.copy()
    odd[3] = odd[3].replace(rows[2].split(",")[1], "n/k")
    with open(path, "w") as file:
        file.write("\n".join(odd) + "\n")
    assert main(["predict", model, path]) == 0
    captured = capsys.readouterr()
    assert "'income' (1, such as 'n/k')" in captured.err
    assert len(captured.out.splitlines()) == N + 1


def test_predict_takes_dates_as_said(tmp_path, capsys):
    days = [np.datetime64("2024-01-01") + i for i in range(300)]
    rows = [(d.item(), "late" if i > 150 else "early") for i, d in enumerate(days)]
    path, model = tmp_path / "t.csv", str(tmp_path / "m")
    path.write_text("\n".join(["day,y", *(f"{d:%d/%m/%Y},{y}" for d, y in rows)]))
    assert main(["select", str(path), "--save", model]) == 0
    path.write_text("\n".join(["day,y", *(f"{d:%m/%d/%Y},{y}" for d, y in rows)]))
    capsys.readouterr()
    assert main(["predict", model, str(path)]) == 2
    assert "date:" in capsys.readouterr().err
    said = ["--types", "day=date:%m/%d/%Y"]
    assert main(["predict", model, str(path), *said]) == 0
    assert float(capsys.readouterr().err.split("%")[0].rpartition(":")[2]) > 98
    assert main(["predict", model, str(path), "--types", "day=number"]) == 2
    assert "--types cannot make it number" in capsys.readouterr().err


def test_words_that_differ_in_every_row_are_named_where_nothing_tells(tmp_path, capsys):
    path = tmp_path / "t.csv"
    lines = [
        f"/{['read', 'buy'][i % 2]}/{i},{i % 2},{i},{i * i % 7}" for i in range(200)
    ]
    path.write_text("\n".join(["url,label,id,z", *lines]) + "\n")
    assert main(["select", str(path), "--json", "--label", "label"]) == 0
    found = json.loads(capsys.readouterr().out)
    [told] = [own for own in found["warnings"] if "may be words" in own]
    assert "'url'" in told
    assert "'id'" not in told
    options = ["--json", "--label", "label", "--types", "url=text"]
    assert main(["select", str(path), *options]) == 0
    assert json.loads(capsys.readouterr().out)["evaluation"]["accuracy"] == 1.0


def test_a_space_after_each_comma_is_no_part_of_a_value(tmp_path, capsys):
    """As in the files of the UCI repository."""
    path, model = tmp_path / "t.csv", str(tmp_path / "m")
    rows = [("red", "ja") if i % 2 else ("blue", "nein") for i in range(120)]
    for text in (
        "".join(f"{i % 7}, {a}, {b}\n" for i, (a, b) in enumerate(rows)),
        "".join(f"{i % 7},{a},{b}\n" for i, (a, b) in enumerate(rows)),
    ):
        path.write_text("x, colour, answer\n" + text)
        if not tmp_path.joinpath("m").exists():
            assert main(["select", str(path), "--save", model]) == 0
            assert load_model(model).classes_.tolist() == ["ja", "nein"]
        capsys.readouterr()
        assert main(["predict", model, str(path)]) == 0
        told = capsys.readouterr().err
        assert "100.0 % of 120" in told
        assert "unlike" not in told


def next_step(path, capsys, *options):
    """Return the command that `inspect` proposes."""
    assert main(["inspect", path, *options]) == 0
    after = capsys.readouterr().out.partition("Try next:")[2].strip()
    command = next(line for line in after.splitlines() if "bayesieve " in line)
    return shlex.split(command.strip().partition("  ")[0])


@pytest.mark.parametrize(
    ("labels", "options", "told"),
    [
        (["a", "b"], [], ["--label", "label"]),
        (["a", "b", ""], [], ["--label", "label", "--skip-bad-rows"]),
        (["NA", "None"], [], ["--label", "label"]),
        (["a"], [], ["--label", "COL"]),
        ([f"k{i}" for i in range(60)], [], ["--label", "label"]),
        ([f"k{i}" for i in range(300)], [], ["--label", "COL"]),
        (["a", "b"], ["--no-header", "--label", "column 2"], ["--no-header"]),
        (["a", "b"], ["--sep", "comma", "--drop", "z"], ["--drop", "z", "--sep", ","]),
    ],
)
def test_the_proposed_command_works(tmp_path, capsys, labels, options, told):
    path = tmp_path / "t.csv"
    rows = [
        f"{i % 17},{labels[i % len(labels)]},{i % 19},{i / 7:.4f}" for i in range(300)
    ]
    path.write_text("\n".join(["x,label,z,w", *rows]) + "\n", encoding="utf-8")
    step = next_step(str(path), capsys, *options)
    assert step[:3] == ["bayesieve", "select", str(path)]
    assert step[-len(told) :] == told
    if "COL" in step:
        step[step.index("COL")] = "z"
    assert main(step[1:]) == 0


def test_bad_rows_are_left_out_of_the_proposed_command(tmp_path, capsys):
    path = tmp_path / "t.csv"
    rows = [f"{i % 17},{'ab'[i % 2]}" for i in range(300)]
    rows[50] = "1,a,b,c"
    path.write_text("\n".join(["x,label", *rows]) + "\n", encoding="utf-8")
    step = next_step(str(path), capsys)
    assert step[-1] == "--skip-bad-rows"
    assert main(step[1:]) == 0


def test_a_single_column_leads_nowhere(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "1\n2\n" * 20, encoding="utf-8")
    assert main(["inspect", str(path), "--sep", ","]) == 0
    out = capsys.readouterr().out
    assert "'x' is the only column: a label must be in another." in out
    assert "Try next" not in out


@pytest.mark.parametrize("command", ["select", "inspect"])
def test_parquet_files_whose_types_differ(tmp_path, capsys, command):
    pandas = pytest.importorskip("pandas")
    labels = ["a", "b"] * 30
    paths = [str(tmp_path / f"{name}.parquet") for name in "abc"]
    values = (np.arange(60), np.arange(60) / 4, [f"v{i % 7}" for i in range(60)])
    for path, own in zip(paths, values, strict=True):
        pandas.DataFrame({"x": own, "label": labels}).to_parquet(path)
    assert main([command, *paths[:2], "--label", "label"]) == 0
    capsys.readouterr()
    assert main([command, paths[0], paths[2], "--label", "label"]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "column 'x' as string in " in captured.err
    assert f"{paths[2]!r}, and as int64 in {paths[0]!r}." in captured.err
