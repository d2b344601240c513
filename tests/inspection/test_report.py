"""The data of a report and the page made from it, without a browser."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from tests.inspection.report_parts import evaluation_of
from tests.inspection.reports import (
    HOSTILE,
    class_report,
    full_report,
    gene_report,
    hostile_counts,
    hostile_report,
    pair_model,
    pair_report,
    table_report,
    text_report,
    weight_report,
)
from tests.naive_bayes.wide_examples import word_counts

import bayesieve
from bayesieve import (
    ClassCounts,
    NaiveFeatureSelector,
    SelectiveNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
    solve_multinomial,
)
from bayesieve._description import describe
from bayesieve.inspection import (
    ReportData,
    calibration,
    collect_report,
    render_report,
)
from bayesieve.inspection._model_path import path_of_model
from bayesieve.inspection._report_features import log_odds, mean_differences
from bayesieve.inspection._report_glossary import GLOSSARY
from bayesieve.inspection._report_schema import LIMITS


@pytest.fixture(scope="module")
def texts():
    return text_report()


class Elements(HTMLParser):
    """Every element of a page, and the text of those that are not scripts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts, self._stack = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self._stack.append(tag)

    def handle_endtag(self, tag):
        self._stack.pop()

    def handle_data(self, data):
        if self._stack and self._stack[-1] not in ("script", "style"):
            self.texts.append(data)


def test_the_numbers_are_those_of_the_model(texts):
    messages, labels = bayesieve.datasets.load_sms_spam(return_X_y=True)
    model = bayesieve.SparseTextNB(k=20).fit(messages[:-1000], labels[:-1000])
    assert texts.sentence == "Proven: no other 20 terms explain the labels better."
    assert texts.data["features"] == model.n_features_in_
    assert texts.data["selected"] == 20
    assert sum(c["rows"] for c in texts.data["classes"]) == len(messages) - 1000
    shown = {texts.names[row["name"]]: row for row in texts.features["rows"]}
    weight = dict(zip(model.support_terms_, model.coef_[0], strict=True))
    assert set(shown) == set(weight)
    for name, row in shown.items():
        assert row["weights"][0] == pytest.approx(weight[name], rel=1e-4)
    scores = [row["score"] for row in texts.features["rows"]]
    assert scores == sorted(scores, reverse=True)
    assert sum(scores) == pytest.approx(texts.certificate["gain"], rel=1e-4)


def test_the_path_is_that_of_the_counts(texts):
    messages, labels = bayesieve.datasets.load_sms_spam(return_X_y=True)
    model = bayesieve.SparseTextNB(k=20, keep_counts=True)
    counts = model.fit(messages[:-1000], labels[:-1000]).counts_
    by_size = {step["k"]: step for step in texts.path["steps"]}
    assert {2, 5, 10, 20, 50} <= set(by_size)
    path = bayesieve.sparsity_path(counts, [5, 20])
    for i, k in enumerate((5, 20)):
        gain = path.objective[i] - path.null_objective
        assert by_size[k]["gain"] == pytest.approx(gain, rel=1e-9)
        named = {texts.names[row["name"]] for row in by_size[k]["top"]}
        assert named == {counts.feature_names[j] for j in path.support(k).tolist()}
    # Whoever entered and did not leave is there.
    inside = set()
    for step in texts.path["steps"]:
        if step["k"] > 20:
            break
        inside |= set(step["entered"])
        inside -= set(step["left"])
        assert len(inside) == step["k"]
    assert inside == {row["name"] for row in texts.features["rows"]}
    assert texts.path["chosen"] == 20
    assert by_size[20]["score"] == {"mean": 0.92, "error": 0.01}
    assert texts.path["best"] == 50  # 0.95, the largest
    assert texts.path["one_se"] == 50  # 0.92 is more than 0.01 below
    top = {row["name"]: row["weights"] for row in by_size[20]["top"]}
    assert top == {row["name"]: row["weights"] for row in texts.features["rows"]}


def test_the_scores_of_a_cv_classifier_are_taken_over():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.poisson(1.0, size=(300, 40))
    X[:, :3] += rng.poisson(3.0 * y[:, None], size=(300, 3))
    model = SparseMultinomialNBCV(ks=[2, 3, 5, 10], alphas=[0.1, 1.0]).fit(X, y)
    report = collect_report(model, data_name="numbers")
    rows = model.cv_results_["param_alpha"] == model.alpha_
    mean = model.cv_results_["mean_test_score"][rows]
    error = model.cv_results_["std_test_score"][rows] / math.sqrt(5)
    assert [step["k"] for step in report.path["steps"]] == [2, 3, 5, 10]
    for step, m, e in zip(report.path["steps"], mean, error, strict=True):
        assert step["score"]["mean"] == pytest.approx(m, rel=1e-4)
        assert step["score"]["error"] == pytest.approx(e, rel=1e-4, abs=1e-12)
        assert step["gain"] is None  # without counts there is no path
    assert report.path["best"] == model.k_best_
    assert report.path["one_se"] == model.k_1se_


def fitted_models():
    X, y = load_iris(return_X_y=True)
    whole = X.round().astype(int)
    binary = (X.mean(axis=0) < X).astype(int)
    for name in ("SparseGaussianNB", "SparseCategoricalNB", "SparseMultinomialNB"):
        data = X if name == "SparseGaussianNB" else whole
        yield getattr(bayesieve, name)(k=2, keep_counts=True).fit(data, y)
    yield bayesieve.SparseBernoulliNB(k=2, keep_counts=True).fit(binary, y)
    yield bayesieve.SparseBernoulliNBCV(ks=[1, 2], keep_counts=True).fit(binary, y)
    for model in ("multinomial", "bernoulli", "gaussian", "categorical"):
        data = {"bernoulli": binary, "gaussian": X}.get(model, whole)
        selector = bayesieve.NaiveFeatureSelector(k=2, model=model, keep_counts=True)
        yield selector.fit(data, y)
    for name in ("L0Screener", "L1Screener", "PearsonScreener", "FDRScreener"):
        yield getattr(bayesieve, name)(keep_counts=True).fit(binary, y)
    for name in ("SelectiveNB", "AveragedNB", "MODLEncoder", "MixedScreener"):
        yield getattr(bayesieve, name)().fit(X, y)
    logs = bayesieve.MODLEncoder(output="log_likelihood").fit(X, y).transform(X)
    yield bayesieve.SelectiveNB(input="log_likelihood").fit(logs, y)
    yield SparseMultinomialNB(k="all").fit(whole, y)
    yield SparseMultinomialNB(k=2, alpha=0.0, keep_counts=True).fit(
        np.array([[3, 0, 1], [4, 1, 0], [0, 3, 1]]), [0, 0, 1]
    )


@pytest.mark.parametrize("model", list(fitted_models()), ids=repr)
def test_every_kind_of_model_has_a_report(model):
    report = collect_report(model, data_name="iris")
    assert report.model == type(model).__name__
    assert report.sentence.endswith(".")
    assert ReportData.from_json(report.to_json()) == report
    page = render_report(report)
    assert report.sentence in page
    certified = hasattr(model, "certificate_") and hasattr(model, "counts_")
    assert (report.path is not None) == certified
    assert (report.columns is not None) == hasattr(model, "partitions_")
    names = [row["name"] for row in report.features["rows"]]
    assert report.features["total"] == len(names) == len(set(names))


def test_a_gap_is_told():
    hard = np.random.default_rng(0).random((6, 12)) ** 8
    counts = ClassCounts(
        classes=np.arange(6), class_count=np.ones(6), feature_count=hard
    )
    model = SparseMultinomialNB(k=3, exact=False, alpha=0.0).fit_counts(counts)
    assert not model.certificate_.is_optimal
    report = collect_report(model, data_name="hard", counts=counts)
    assert re.fullmatch(
        r"Proven: these 3 features are at most [\d.]+ % short of the best possible\.",
        report.sentence,
    )
    (step,) = [step for step in report.path["steps"] if step["k"] == 3]
    assert step["bound"] - step["gain"] == pytest.approx(step["gap"], rel=1e-3)
    # Five digits are shown; the search from other sizes may have ended elsewhere.
    assert step["gap"] == pytest.approx(model.certificate_.gap, rel=5e-5)
    assert step["gain"] == pytest.approx(
        model.certificate_.objective - model.certificate_.null_objective, rel=1e-9
    )


def test_the_step_of_the_models_own_size_is_the_models_own_answer():
    """Not that of the path, which is solved from other sizes."""
    rng = np.random.default_rng(1)
    counts = ClassCounts(
        classes=np.arange(5),
        class_count=np.ones(5),
        feature_count=rng.random((5, 14)) ** 8,
    )
    model = SparseMultinomialNB(k=4, exact=False, alpha=0.0).fit_counts(counts)
    # As if another processor had led the search to another support.
    model.support_indices_ = np.array([0, 1, 2, 3])
    model.certificate_ = replace(
        model.certificate_, objective=model.certificate_.objective - 0.5
    )
    solved = path_of_model(describe(model), counts)
    at = solved.path.k.tolist().index(4)
    assert solved.path.support(4).tolist() == [0, 1, 2, 3]
    assert solved.path.gap[at] == model.certificate_.gap
    assert solved.path.objective[at] == model.certificate_.objective


def test_rounding_that_decides_is_told():
    # Counts that vanish in the smoothing: nothing can be proven of them.
    table = np.array([[3.0, 9.0, 4.0, 1.0], [5.0, 2.0, 6.0, 5.0]])
    counts = ClassCounts(
        classes=np.arange(2), class_count=np.ones(2), feature_count=table
    )
    model = SparseMultinomialNB(k=2, alpha=1e9).fit_counts(counts)
    model.certificate_ = replace(
        model.certificate_,
        is_optimal=False,
        gap=1e-9,
        relative_gap=0.5,
        rounding=1e-9,
    )
    sentence = collect_report(model, data_name="vanishing", counts=counts).sentence
    assert re.fullmatch(
        r"Proven: .*; counts or smoothing .* decides the rest\.", sentence
    )


def test_the_path_of_a_refined_selector_is_that_of_the_likelihood():
    X, y = word_counts(0)
    model = NaiveFeatureSelector(k=4, refine=True, keep_counts=True).fit(X, y)
    report = collect_report(model, data_name="words")
    assert report.sentence.startswith("Proven: no 4 weighted features gain more than")
    # The certificate is about weights: its numbers have no place among the others.
    (step,) = [step for step in report.path["steps"] if step["k"] == 4]
    proof = solve_multinomial(model.counts_, 4).certificate
    assert step["gain"] == pytest.approx(proof.objective - proof.null_objective)


def test_the_path_of_weights():
    report = weight_report()
    steps = report.weight_path["steps"]
    assert report.sentence.startswith("Proven: at this penalty, no other weights of ")
    penalties = [step["penalty"] for step in steps]
    assert penalties == sorted(penalties, reverse=True)
    inside = 0
    for step in steps:
        inside += step["n_entered"] - step["n_left"]
        assert inside == step["features"]
    assert steps[0]["features"] == 0
    assert len(report.discounts) == report.data["selected"]
    assert all(0 <= row["discount"] <= 1 for row in report.features["rows"])
    assert all(
        len(line["weights"]) == len(steps) for line in report.weight_path["lines"]
    )


def test_partitions():
    report = table_report()
    assert report.columns["total"] == 3
    names = [item["name"] for item in report.columns["items"]]
    assert "noise" not in names
    assert HOSTILE[0] in names
    for item in report.columns["items"]:
        rows = sum(sum(part["counts"]) for part in item["parts"])
        assert rows == 900
        assert item["n_parts"] == len(item["parts"])


def test_shapes_are_those_of_the_model():
    model, report = pair_model(), pair_report()
    shapes = report.shapes
    assert shapes["odds"]
    assert report.data["selected"] == model.support_indices_.size
    used = np.flatnonzero(model.weights_)
    assert len(shapes["columns"]) == shapes["n_columns"] == used.size
    names = model._column_names()
    share = model.class_count_ / model.class_count_.sum()
    for item in shapes["columns"]:
        j = names.index(item["name"])
        lifts = model.weights_[j] * model.shapes_[j].lifts(share)
        values = [part["values"][0] for part in item["bins"]]
        expected = (lifts[:, 1] - lifts[:, 0])[-len(values) :]
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-6)
        for part in item["bins"]:
            assert part["low"][0] <= part["values"][0] <= part["high"][0]
        assert item["edges"] == sorted(item["edges"])
    (day,) = [item for item in shapes["columns"] if item["name"] == "day"]
    assert all(tick["text"].startswith("202") for tick in day["ticks"])


def test_pairs_are_those_of_the_model():
    model, report = pair_model(), pair_report()
    shapes = report.shapes
    assert {len(own) for own in model.pairs_} == {2, 3}
    assert len(shapes["pairs"]) == shapes["n_pairs"] == len(model.pairs_)
    for item in shapes["pairs"]:
        assert sum(item["rows"]) == 2500
        assert len(item["values"]) == 1
    table = {report.names[row["name"]]: row for row in report.features["rows"]}
    names = model._column_names()
    for columns, weight in zip(model.pairs_, model.pair_weights_, strict=True):
        name = " \u00d7 ".join(names[j] for j in columns)
        assert table[name]["weights"] == [pytest.approx(weight, rel=1e-4)]
    assert len(table) == np.count_nonzero(model.weights_) + len(model.pairs_)
    assert "pair" in report.sentence
    page = render_report(report)
    assert "Columns and pairs" in page


def test_reports_saved_earlier_are_read():
    plain = json.loads(full_report().to_json())
    later = ("shapes", "alternatives", "reading", "verdict", "documents")
    for name in later:
        del plain[name]
    for row in plain["features"]["rows"]:
        for name in ("documents", "odds", "means", "deviations", "contexts"):
            del row[name]
    for name in ("note", "largest_advised"):
        del plain["path"][name]
    kept = ("rows", "accuracy", "log_loss", "majority_accuracy", "calibration")
    plain["evaluation"] = {name: plain["evaluation"][name] for name in kept}
    read = ReportData.from_json(json.dumps(plain))
    assert all(getattr(read, name) is None for name in later)
    assert read.evaluation["confusion"] is None
    page = render_report(read)
    assert "How good is it on new rows?" in page
    assert ReportData.from_json(read.to_json()) == read


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["columns"][0]["edges"].pop(), r"columns\[0\] must have edges"),
        (lambda s: s["columns"][0]["edges"].reverse(), r"columns\[0\] must have edges"),
        (lambda s: s["columns"][0]["bins"][1].update(low=[]), "curves that fit"),
        (lambda s: s["columns"][0].update(bins=[], edges=None), "curves that fit"),
        (lambda s: s["pairs"][0]["rows"].pop(), r"pairs\[0\] must have maps"),
        (lambda s: s["pairs"][0]["values"].append([1.0]), "maps that fit its axes"),
        (lambda s: s["pairs"][0]["axes"].pop(), "maps that fit its axes"),
        (lambda s: s.update(n_pairs=-1), "shapes.n_pairs must be a whole number"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(change, message):
    plain = json.loads(pair_report().to_json())
    change(plain["shapes"])
    with pytest.raises(ValueError, match=message):
        ReportData.from_json(json.dumps(plain))


def test_the_size_of_shapes_is_bounded():
    rng = np.random.default_rng(0)
    n, n_classes = 3000, 30
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 30)) + y[:, None] * rng.random(30)
    report = collect_report(SelectiveNB(pairs=0).fit(X, y), data_name="wide")
    assert len(report.shapes["columns"]) < report.shapes["n_columns"]
    assert len(render_report(report)) < 3_000_000


# ------------------------------------------------------- evaluation, examples, keyness


def test_log_odds_of_two_classes_are_those_of_the_model(texts):
    messages, labels = bayesieve.datasets.load_sms_spam(return_X_y=True)
    model = bayesieve.SparseTextNB(k=20, keep_counts=True)
    counts = model.fit(messages[:-1000], labels[:-1000]).counts_
    columns = dict(zip(model.support_terms_, model.support_indices_, strict=True))
    for row in texts.features["rows"]:
        own = counts.feature_count[:, columns[texts.names[row["name"]]]]
        width = 1.959964 * math.sqrt(sum(1 / (own + 1.0)))
        assert row["odds"]["of"] == 1
        assert row["odds"]["value"] == row["weights"][0]
        assert row["odds"]["low"] == pytest.approx(row["weights"][0] - width, abs=2e-4)
        assert row["odds"]["high"] == pytest.approx(row["weights"][0] + width, abs=2e-4)
        documents = counts.document_count[:, columns[texts.names[row["name"]]]]
        assert row["documents"] == documents.tolist()
        assert row["counts"] == own.tolist()


def test_intervals_of_log_odds_cover_the_truth():
    """Words drawn with known shares: 95 % of the intervals hold the log-odds."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(300, 3.0), size=3)
    sizes = (90_000, 40_000, 60_000)
    table = np.array(
        [rng.multinomial(n, p) for n, p in zip(sizes, shares, strict=True)]
    )
    towards = rng.integers(3, size=300)
    value, error = log_odds(table, np.full(300, 0.5), towards)
    totals = table.sum(axis=1)
    at = towards, np.arange(300)
    own = (shares * totals[:, None])[at]
    rest = (shares * totals[:, None]).sum(axis=0) - own
    truth = np.log(own / totals[towards]) - np.log(
        rest / (totals.sum() - totals[towards])
    )
    covered = np.abs(value - truth) <= 1.959964 * error
    # 300 draws of 0.95: four standard errors are 0.05.
    assert 0.90 <= covered.mean() <= 1.0
    # Presences: the odds of a row to have the word.
    rows = np.array([700, 500])
    chance = rng.uniform(0.05, 0.6, size=(2, 300))
    table = rng.binomial(rows[:, None], chance)
    value, error = log_odds(table, np.full(300, 0.5), rows=rows)
    logit = np.log(chance / (1 - chance))
    covered = np.abs(value - (logit[1] - logit[0])) <= 1.959964 * error
    assert 0.90 <= covered.mean() <= 1.0


def test_differences_of_means_cover_the_truth():
    rng = np.random.default_rng(1)
    rows, n = np.array([60, 90]), 400
    samples = [rng.normal(c, 2.0, size=(r, n)) for c, r in enumerate(rows)]
    means = np.array([own.mean(axis=0) for own in samples])
    deviations = np.array([own.std(axis=0) for own in samples])
    value, error = mean_differences(means, deviations, rows)
    assert 0.90 <= (np.abs(value - 0.5) <= 1.959964 * error).mean() <= 1.0


def test_many_classes_have_the_odds_of_their_own_class():
    report = class_report()
    for row in report.features["rows"]:
        assert row["odds"]["of"] == int(np.argmax(row["weights"]))
        assert row["odds"]["low"] < row["odds"]["value"] < row["odds"]["high"]
        assert row["documents"] is None  # a matrix does not count documents


def test_measurements_show_what_they_were_chosen_by():
    report = gene_report()
    assert report.features["score_name"] == "gain (nats)"
    assert {report.names[r["name"]] for r in report.features["rows"]} >= {
        "gene0",
        "gene1",
        "gene2",
    }
    for row in report.features["rows"]:
        assert len(row["means"]) == len(row["deviations"]) == 2
        spread = math.sqrt(np.mean(np.square(row["deviations"])))
        difference = (row["means"][1] - row["means"][0]) / spread
        assert row["weights"][0] == pytest.approx(difference, rel=1e-3)
        assert row["odds"]["low"] < row["weights"][0] < row["odds"]["high"]
    # Thirty rows cannot bear out what the elbow says.
    assert report.path["largest_advised"] == 15
    assert report.path["elbow"] is None
    # A selector without weights of its own has those of its counts.
    X, y = load_iris(return_X_y=True)
    selector = NaiveFeatureSelector(k=2, model="gaussian", keep_counts=True)
    rows = collect_report(selector.fit(X, y), data_name="iris").features["rows"]
    assert all(len(row["means"]) == len(row["deviations"]) == 3 for row in rows)


def test_sizes_of_a_weighted_model_are_told_apart():
    messages, labels = bayesieve.datasets.load_sms_spam(return_X_y=True)
    model = bayesieve.SparseTextNB(k=100, weights=True, keep_counts=True)
    report = collect_report(model.fit(messages[:2000], labels[:2000]), data_name="sms")
    assert report.path["chosen"] is None
    assert "fitted weights and kept" in report.path["note"]
    page = render_report(report)
    assert f"<dt>terms kept</dt><dd>{model.k_}<" in page
    steps = report.weight_path["steps"]
    (there,) = {
        step["features"]
        for step in steps
        if step["penalty"] == report.weight_path["chosen"]
    }
    told = f"At the chosen penalty {there} terms had a weight"
    assert (told in page) == (there != report.certificate["k"])
    assert ("these are the ones kept" in page) == (model.k_ != report.certificate["k"])


def test_what_leads_the_page():
    page = Elements(render_report(full_report()))
    order = [a["id"] for tag, a in page.found if tag == "section"]
    assert order[:3] == ["evaluation", "features", "documents"]
    assert {"proof", "path", "data", "reproduce", "words"} <= set(order)
    html = render_report(full_report())
    first = html.split('class="sentence">')[1].split("<")[0]
    assert first == full_report().verdict["lines"][0]
    assert html.index("What is proven</h2>") < html.index(full_report().sentence)
    without = replace(full_report(), verdict=None)
    first = render_report(without).split('class="sentence">')[1].split("<")[0]
    accuracy = 100 * without.evaluation["accuracy"]
    assert first.startswith(f"{accuracy:.1f} % of 1,000 new rows are classified right;")
    bare = replace(without, evaluation=None)
    html = render_report(bare)
    assert html.split('class="sentence">')[1].split("<")[0] == bare.sentence
    assert html.count(bare.sentence + "</p>") == 1


def test_pieces_are_named_by_their_columns():
    report = full_report()
    used = {row["name"] for row in report.features["rows"]}
    named = [p for d in report.documents for p in d["pieces"] if p["name"] is not None]
    assert named
    for piece in named:
        assert piece["name"] in used
        assert report.names[piece["name"]] == piece["text"].lower()
    # A column that the model does not use has no name here.
    document = report.documents[0] | {
        "pieces": [{"text": "x", "nats": 1.0, "name": 10**6}]
    }
    model = SparseMultinomialNB(k=2).fit([[3, 0, 1], [0, 2, 1]], ["a", "b"])
    made = collect_report(model, data_name="x", documents=[document])
    assert made.documents[0]["pieces"][0]["name"] is None


def test_long_documents_and_contexts_are_cut():
    text, nul = "ab" * 5000, "null \x00 and \u202e"
    model = SparseMultinomialNB(k=2).fit([[3, 0, 1], [0, 2, 1]], ["a", "b"])
    pieces = [{"text": own, "nats": None, "name": None} for own in (nul, text, text)]
    document = {
        "kind": "edge",
        "row": 0,
        "predicted": "a",
        "probability": 0.5,
        "pieces": pieces,
    }
    contexts = {"x0": [["b" * 500, "x0", "after\nit"]] * 9}
    report = collect_report(
        model, data_name="x", documents=[document], contexts=contexts
    )
    shown = "".join(piece["text"] for piece in report.documents[0]["pieces"])
    assert len(shown) == LIMITS["letters"]
    assert shown.startswith("null \u2400 and \ufffdab")
    found = {report.names[r["name"]]: r["contexts"] for r in report.features["rows"]}
    assert len(found["x0"]) == LIMITS["contexts"]
    before, match, after = found["x0"][0]
    assert len(before) == LIMITS["context"]
    assert before.startswith("\u2026")
    assert (match, after) == ("x0", "after it")
    assert found["x1"] is None


def test_words_are_explained_once():
    page = render_report(full_report())
    for word, meaning in GLOSSARY.items():
        assert len(re.findall(f'id="word-[a-z0-9-]+">{word}</dt>', page)) == 1
        assert meaning.endswith((".", ".)"))


def test_one_of_something_is_not_many():
    report = table_report()
    page = render_report(report)
    assert not re.search(r"\b1 parameters", page)
    for _, words in re.findall(r"\b(1) (\w+)", "".join(Elements(page).texts)):
        assert words not in ("intervals", "groups", "rows", "classes", "terms")


# ------------------------------------------------------------------------ the page


@pytest.mark.parametrize(
    "make",
    [
        text_report,
        full_report,
        gene_report,
        hostile_report,
        table_report,
        pair_report,
        class_report,
        weight_report,
    ],
)
def test_a_page_is_one_file_that_asks_for_nothing(make):
    page = render_report(make())
    elements = Elements(page).found
    for tag, attributes in elements:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form")
        for key, value in attributes.items():
            assert not key.startswith("on")
            assert key != "style"  # the policy would refuse it
            if key in ("src", "href"):
                assert value.startswith("#") or value == "data:,"
    assert [tag for tag, _ in elements].count("script") == 2
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_hostile_text_stays_text():
    report = hostile_report()
    page = render_report(report)
    parsed = Elements(page)
    text = "".join(parsed.texts)
    assert "<script>alert(1)</script>" in text
    for attack in HOSTILE[:4]:
        assert attack not in page
    for tag, attributes in parsed.found:
        assert tag not in ("b", "em", "i", "svg", "img")
        assert not [name for name in attributes if name.startswith("on")]
    data = page.split('id="report">')[1].split("</script>")[0]
    assert json.loads(data)["data_name"] == HOSTILE[0]
    assert "<" not in data
    assert "&" not in data
    page.encode("utf-8")  # no lone surrogates
    assert not re.search("[\x00-\x09\x0b-\x1f\u2028\u2029]", page)


def test_the_policy_names_this_style_and_script_and_no_others():
    page = render_report(hostile_report())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert len(re.findall(r"'sha256-[\w+/]{43}='", policy)) == 2


def test_the_size_is_bounded():
    rng = np.random.default_rng(0)
    n_features, n_classes = 20_000, 30
    counts = ClassCounts(
        classes=np.array([f"class {c:02d} " + "x" * 500 for c in range(n_classes)]),
        class_count=np.full(n_classes, 100.0),
        feature_count=rng.poisson(1.0, size=(n_classes, n_features)).astype(float),
        feature_names=np.array([f"{j} " + "y" * 1000 for j in range(n_features)]),
    )
    model = bayesieve.SparseBernoulliNB(k=5000)
    counts = ClassCounts(
        classes=counts.classes,
        class_count=counts.class_count,
        feature_count=np.minimum(counts.feature_count, 100.0),
        feature_names=counts.feature_names,
        kind="binary",
    )
    report = collect_report(
        model.fit_counts(counts), data_name="w" * 10_000, counts=counts
    )
    assert report.data["selected"] == 5000
    assert len(report.features["rows"]) == LIMITS["features"]
    page = render_report(report)
    assert len(page) < 4_000_000
    assert "w" * 201 not in page


def test_a_hundred_thousand_terms_of_forty_classes_stay_below_two_megabytes():
    rng = np.random.default_rng(0)
    n_features, n_classes = 100_000, 40
    counts = ClassCounts(
        classes=np.array([f"class {c:02d}" for c in range(n_classes)]),
        class_count=np.full(n_classes, 500.0),
        feature_count=rng.poisson(1.0, size=(n_classes, n_features)).astype(float),
        document_count=rng.poisson(1.0, size=(n_classes, n_features)).astype(float),
        feature_names=np.array([f"term{j}" for j in range(n_features)]),
    )
    model = SparseMultinomialNB(k=1000, exact=False).fit_counts(counts)
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 20)))
    pieces = [
        {"text": letters, "nats": 0.5 if i % 2 else None, "name": None}
        for i in range(LIMITS["letters"] // 20)
    ]
    document = {
        "row": 1,
        "label": "class 01",
        "predicted": "class 02",
        "probability": 0.5,
        "pieces": pieces,
        "flip": "Without it, another.",
    }
    y = rng.integers(n_classes, size=3000)
    proba = rng.dirichlet(np.ones(n_classes), size=3000)
    report = collect_report(
        model,
        data_name="wide",
        counts=counts,
        evaluation=evaluation_of(proba, counts.classes[y], counts.classes),
        documents=[
            {"kind": kind, **document}
            for kind in ("certain", "wrong", "edge")
            for _ in range(10)
        ],
        contexts={
            f"term{j}": [[letters * 2, f"term{j}", letters * 2]] * 3
            for j in range(n_features)
        },
    )
    assert len(report.features["rows"]) == 400
    assert len(report.documents) == LIMITS["documents"]
    assert len(render_report(report).encode("utf-8")) < 2_000_000


# ------------------------------------------------------------------- untrusted JSON


def changed(report, change):
    plain = json.loads(report.to_json())
    change(plain)
    return json.dumps(plain)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(format=2), "newer bayesieve"),
        (lambda r: r.pop("format"), "field 'format'"),
        (lambda r: r.pop("data"), "no data"),
        (lambda r: r.update(more=1), "'more'"),
        (lambda r: r.update(data_name=3), "data_name must be text. Got 3"),
        (lambda r: r.update(names="abc"), "names must be a list"),
        (lambda r: r["data"].update(features=-1), "data.features must be a whole"),
        (lambda r: r["data"].update(features=True), "must be a whole number. Got True"),
        (lambda r: r["data"].update(rows="inf?"), "data.rows must be a number"),
        (lambda r: r["data"].update(rows=10**400), "data.rows must be a number"),
        (lambda r: r["features"]["rows"][3].update(name=99_999), "whole number from 0"),
        (lambda r: r["features"]["rows"][3].update(name=19_999), "places in its list"),
        (lambda r: r["features"]["rows"][3].update(style="x"), "no fields but name"),
        (lambda r: r["features"].update(rows=[{}] * 401), "a list of at most 400"),
        (lambda r: r["path"]["steps"][0].update(gap=-1), "from 0 to inf"),
        (lambda r: r["path"]["steps"][0].update(entered=[-1]), "entered\\[0\\]"),
        (lambda r: r["evaluation"].update(accuracy=1.5), "from 0 to 1. Got 1.5"),
        (lambda r: r.update(command="x" * 20_000), "at most 10,000 characters"),
        (lambda r: r.update(path=[]), "path must be an object"),
        (lambda r: r["verdict"].update(lines=[]), "1 to 4 sentences"),
        (lambda r: r["verdict"].update(lines=["x"] * 5), "a list of at most 4"),
        (lambda r: r["documents"][0].update(kind="odd"), "one of 'certain', 'wrong'"),
        (lambda r: r["documents"][0]["pieces"][1].update(name=19_999), "places in its"),
        (lambda r: r.update(documents=r["documents"] * 9), "a list of at most 30"),
        (lambda r: r["evaluation"]["confusion"]["counts"].pop(), "a row and a column"),
        (lambda r: r["evaluation"]["confusion"]["names"].pop(), "a row and a column"),
        (lambda r: r["evaluation"]["two_classes"].update(roc=[[0, 2]]), "from 0 to 1"),
        (lambda r: r["evaluation"]["two_classes"].update(roc=[[0]]), "a list of 2"),
        (lambda r: r["features"]["rows"][0]["odds"].update(of=2), "its 2 classes"),
        (lambda r: r["features"]["rows"][0].update(means=[1]), "its 2 classes"),
        (lambda r: r["features"]["rows"][0].update(contexts=[["a"]]), "a list of 3"),
    ],
)
def test_wrong_shapes_are_refused_in_one_sentence(change, message):
    with pytest.raises(ValueError, match=message) as caught:
        ReportData.from_json(changed(full_report(), change))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "[" * 100_000,
        '{"format": NaN}',
        "9" * 5000,
        "\x00",
        b"{}",
    ],
    ids=["empty", "null", "list", "open", "deep", "nan", "digits", "zero", "bytes"],
)
def test_what_is_not_a_report_is_refused(text):
    with pytest.raises(ValueError, match="A report must be"):
        ReportData.from_json(text)


def test_random_damage_is_refused_or_harmless():
    rng = np.random.default_rng(0)
    report = collect_report(
        SparseMultinomialNB(k=3).fit_counts(hostile_counts()), data_name="<x>"
    )
    text = report.to_json()
    refused = 0
    for _ in range(400):
        place, to = rng.integers(len(text)), chr(rng.integers(32, 127))
        damaged = text[:place] + to + text[place + 1 :]
        try:
            read = ReportData.from_json(damaged)
        except ValueError:
            refused += 1
        else:
            elements = Elements(render_report(read)).found
            assert [tag for tag, _ in elements].count("script") == 2
    assert 50 < refused < 400


# --------------------------------------------------------------------- wrong calls


def test_wrong_calls_say_what_is_wrong():
    X, y = load_iris(return_X_y=True)
    model = bayesieve.SparseGaussianNB(k=2).fit(X, y)
    with pytest.raises(TypeError, match="counts must be the ClassCounts"):
        collect_report(model, data_name="iris", counts=X)
    other = ClassCounts.from_matrix(X[:, :3], y, kind="moments")
    with pytest.raises(ValueError, match=r"3 classes and 4 features\. Got 3 "):
        collect_report(model, data_name="iris", counts=other)
    with pytest.raises(ValueError, match="cv must be a list of dicts"):
        collect_report(model, data_name="iris", cv=[{"k": 1}])
    with pytest.raises(ValueError, match="no fields but rows"):
        collect_report(model, data_name="iris", evaluation={"acuracy": 0.9})
    with pytest.raises(TypeError, match="draws a ReportData"):
        render_report({})


def test_calibration_of_known_probabilities():
    # Two bins: three rows at 0.1, one of them a; one row at 0.95, and it is a.
    proba = np.array([[0.1, 0.9], [0.1, 0.9], [0.1, 0.9], [0.95, 0.05]])
    found = calibration(proba, ["a", "b", "b", "a"], ["a", "b"], pos_label="a")
    np.testing.assert_allclose(found.predicted, [0.1, 0.95])
    np.testing.assert_allclose(found.observed, [1 / 3, 1])
    assert found.rows.tolist() == [3, 1]
    expected = -(np.log(0.1) + 2 * np.log(0.9) + np.log(0.95)) / 4
    assert found.log_loss == pytest.approx(expected)
    # By default the second class of two.
    assert calibration(proba, ["a", "b", "b", "a"], ["a", "b"]).label == "b"
    # Of three classes the predicted one: right in two rows of three.
    proba = np.array([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    found = calibration(proba, [0, 1, 2], [0, 1, 2])
    assert found.label is None
    np.testing.assert_allclose(found.observed, [2 / 3])
    with pytest.raises(ValueError, match="Got 'c'"):
        calibration(proba, [0, 1, 2], [0, 1, 2], pos_label="c")


def test_collecting_a_wide_sparse_table_makes_nothing_dense():
    rng = np.random.default_rng(0)
    n_features = 300_000
    X = sparse.random_array(
        (2000, n_features), density=2e-5, rng=rng, format="csr"
    ).ceil()
    model = bayesieve.SparseBernoulliNB(k=10, keep_counts=True)
    report = collect_report(model.fit(X, rng.integers(2, size=2000)), data_name="wide")
    assert len(report.names) < LIMITS["names"]
    assert len(report.to_json()) < 1_000_000
