"""The report in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import json
import os
import re
import shutil
from itertools import pairwise

import pytest
from tests.conftest import ROOT
from tests.inspection.reports import (
    HOSTILE,
    class_report,
    full_report,
    gene_report,
    hostile_report,
    pair_report,
    score_report,
    table_report,
    text_report,
    weight_report,
)

from bayesieve.inspection import ReportData, render_report

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
ARTEFACTS = ROOT / ".artefacts"
MAKERS = {
    "text": text_report,
    "full": full_report,
    "genes": gene_report,
    "hostile": hostile_report,
    "table": table_report,
    "pairs": pair_report,
    "classes": class_report,
    "weights": weight_report,
    "path of scores": score_report,
}


def find_chromium():
    named = os.environ.get("BAYESIEVE_CHROMIUM")
    found = (
        named or next(filter(None, map(shutil.which, NAMES)), None) or shutil.which(MAC)
    )
    if found is None:
        pytest.skip(
            "no Chromium here (looked for " + ", ".join(NAMES) + "; on Debian: "
            "apt-get install chromium)"
        )
    return found


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (test extra)"
    )
    path = find_chromium()
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """``pages(name)``: a report on disk and its data, made once."""
    folder = tmp_path_factory.mktemp("reports")
    made = {}

    def page(name):
        if name not in made:
            data = MAKERS[name]()
            path = folder / f"{name}.html"
            path.write_text(render_report(data), encoding="utf-8")
            made[name] = path, data
        return made[name]

    return page


class Watched:
    """A page that remembers everything it should not do."""

    def __init__(self, context, path):
        self.complaints = []
        self.page = context.new_page()
        note = self.complaints.append
        self.page.on("console", lambda m: note(f"console {m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: note(f"error: {e}"))
        self.page.on("dialog", lambda d: (note(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self._request(r.url, path))
        self.page.goto(path.as_uri())

    def _request(self, url, path):
        if url != path.as_uri() and not url.startswith("data:"):
            self.complaints.append(f"request: {url}")


@pytest.fixture
def view(browser, pages):
    """``view(name, ...)``: an opened report; at the end it must have been quiet."""
    opened = []

    def open_report(name, *, width=1100, scheme="light", script=True):
        path, data = pages(name)
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            java_script_enabled=script,
        )
        watched = Watched(context, path)
        opened.append((context, watched))
        return watched.page, data

    yield open_report
    complaints = [c for _, watched in opened for c in watched.complaints]
    for context, _ in opened:
        context.close()
    assert complaints == []


def keep_picture(page, name):
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=str(ARTEFACTS / f"{name}.png"), full_page=True)
    assert (ARTEFACTS / f"{name}.png").stat().st_size > 10_000


def texts(page, selector):
    return page.locator(selector).all_text_contents()


def test_slider_moves_and_the_table_follows(view):
    page, report = view("text")
    slider = page.locator("#path input[type=range]")
    steps = report.path["steps"]
    sizes = [step["k"] for step in steps]
    at = sizes.index(20)
    assert slider.input_value() == str(at)
    assert texts(page, "#path output") == ["k = 20"]
    words = texts(page, "#path table.step td.name")
    assert sorted(words) == sorted(report.names[t["name"]] for t in steps[at]["top"])
    slider.focus()
    page.keyboard.press("ArrowRight")
    after = steps[at + 1]
    assert texts(page, "#path output") == [f"k = {after['k']}"]
    words = texts(page, "#path table.step td.name")
    assert sorted(words) == sorted(report.names[t["name"]] for t in after["top"])
    chips = texts(page, "#path .chips.entered li")
    assert chips == [report.names[place] for place in after["entered"]]
    read = dict(
        zip(
            texts(page, "#path .readout dt"),
            texts(page, "#path .readout dd"),
            strict=True,
        )
    )
    assert read["gain (nats)"].replace(",", "") == f"{after['gain']:.1f}"
    assert read["gap"] == "none, proven"
    assert f"k = {after['k']}" in slider.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    assert texts(page, "#path output") == [f"k = {sizes[-1]:,}"]
    page.keyboard.press("Home")
    assert texts(page, "#path output") == ["k = 2"]


def test_jumps_and_clicks_on_the_picture(view):
    page, report = view("text")
    page.get_by_role("button", name="elbow").click()
    assert texts(page, "#path output") == [f"k = {report.path['elbow']:,}"]
    pressed = page.locator("#path .jump[aria-pressed=true]")
    assert "elbow" in pressed.first.text_content()
    # The left end of the axis.
    page.locator("#path .chart").click(position={"x": 60, "y": 60})
    assert texts(page, "#path output") == ["k = 2"]


def test_features_can_be_sorted_and_found(view):
    page, report = view("text")
    names = texts(page, "#features td.name")
    rows = {report.names[r["name"]]: r["weights"][0] for r in report.features["rows"]}
    assert names == sorted(rows, key=lambda name: -rows[name])
    head = page.locator("#features th").first
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert texts(page, "#features td.name") == sorted(rows)
    page.get_by_label("Find a name").fill("MOBILE")
    assert texts(page, "#features td.name") == ["mobile"]
    assert "1 shown" in page.locator("#features [role=status]").text_content()


def test_classes_can_be_chosen(view):
    page, report = view("classes")
    page.get_by_label("Class", exact=True).select_option("3")
    rows = report.features["rows"]
    best = max(rows, key=lambda row: row["weights"][3])
    assert texts(page, "#features td.name")[0] == report.names[best["name"]]
    keep_picture(page, "classes")


def test_the_verdict_leads_and_the_proof_follows(view):
    page, report = view("full")
    verdict = report.verdict
    assert page.locator("header .sentence").text_content() == verdict["lines"][0]
    assert texts(page, "header .lead") == verdict["lines"][1:]
    assert texts(page, ".remarks li") == [own["text"] for own in verdict["remarks"]]
    assert texts(page, ".next code") == [own["command"] for own in verdict["next"]]
    assert page.locator("#proof .proven").text_content() == report.sentence
    assert page.locator("main > section").first.get_attribute("id") == "evaluation"
    assert "the only good answer" in page.locator("#proof").inner_text()


def test_evaluation_against_others_and_by_class(view):
    page, report = view("full")
    found = report.evaluation
    shown = page.locator("#evaluation .contenders tbody tr")
    assert shown.count() == len(found["contenders"])
    assert "this model" in page.locator("tr.chosen").inner_text()
    assert page.locator("tr.chosen line.whisker").count() == 3
    drawn = texts(page, "#evaluation svg[aria-label^=Confusion] text")
    for row in found["confusion"]["counts"]:
        assert {f"{n:,.0f}" for n in row} <= set(drawn)
    rows = page.locator("#evaluation table:not(.contenders) tbody tr")
    first = rows.first.locator("td").first
    assert first.text_content() == "ham"
    page.locator("#evaluation").get_by_role("button", name="recall", exact=True).click()
    page.locator("#evaluation").get_by_role("button", name="recall", exact=True).click()
    assert first.text_content() == "spam"  # ascending
    labels = page.locator("#evaluation svg[role=img]").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-label'))"
    )
    for start in ("Confusion", "ROC of spam", "Precision", "Lift", "Calibration"):
        assert any(label.startswith(start) for label in labels)


def test_threshold_slider(view):
    page, report = view("full")
    found = report.evaluation["two_classes"]
    slider = page.get_by_label("Threshold", exact=True)
    at = int(slider.input_value())
    assert found["thresholds"][at]["threshold"] == found["chosen_threshold"]

    def read():
        panel = page.locator("#evaluation .slides")
        titles = panel.locator("dt").all_text_contents()
        return dict(zip(titles, panel.locator("dd").all_text_contents(), strict=True))

    def expected(own):
        return {
            "precision": f"{100 * own['precision']:.1f} %",
            "recall": f"{100 * own['recall']:.1f} %",
            "rows flagged": f"{100 * own['flagged']:.1f} %",
            "cost": f"{own['cost']:g}",
        }

    assert read() == expected(found["thresholds"][at])
    dot = page.locator("svg[aria-label^=ROC] circle.dot")
    before = dot.get_attribute("cy")
    slider.focus()
    for _ in range(25):
        page.keyboard.press("ArrowRight")
    assert read() == expected(found["thresholds"][at + 25])
    assert dot.get_attribute("cy") != before
    page.get_by_role("button", name="least cost").click()
    least = min(own["cost"] for own in found["thresholds"])
    assert read()["cost"] == f"{least:g}"


def test_examples_are_highlighted_and_filtered(view):
    page, report = view("full")
    cards = page.locator("#documents article")
    certain = [d for d in report.documents if d["kind"] == "certain"]
    assert cards.count() == 5 < len(certain)
    shown = page.locator("#documents article .text").first.text_content()
    assert shown == "".join(piece["text"] for piece in certain[0]["pieces"])
    pieces = [p for p in certain[0]["pieces"] if p["nats"]]
    spans = page.locator("#documents article").first.locator(".piece")
    assert spans.all_text_contents() == [p["text"] for p in pieces]
    assert spans.first.get_attribute("title").endswith(" nats")
    sides = set(spans.evaluate_all("all => all.map(e => e.classList[1])"))
    signs = {"plus" if p["nats"] > 0 else "less" for p in pieces}
    assert sides == signs
    spans.first.click()
    told = page.locator("#documents article").first.locator(".told")
    assert told.text_content() == spans.first.get_attribute("title")
    page.get_by_role("button", name="Most wrong").click()
    assert "in truth" in cards.first.inner_text()
    page.locator("#documents").get_by_role("button", name="Show all").click()
    wrong = [d for d in report.documents if d["kind"] == "wrong"]
    assert cards.count() == len(wrong)
    assert texts(page, "#documents .flip") == [d["flip"] for d in wrong]
    keep_picture(page, "full")


def test_rows_open_with_contexts_and_counts(view):
    page, report = view("full")
    rows = {report.names[r["name"]]: r for r in report.features["rows"]}
    button = page.locator("#features button.open").first
    own = rows[button.text_content()]
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert texts(page, "#features .contexts li") == [
        "".join(c) for c in own["contexts"]
    ]
    assert page.locator("#features .opened tbody tr").count() == 2
    button.click()
    assert page.locator("#features .opened").count() == 0
    # A bar with its interval is a line and two ends.
    assert page.locator("#features tbody line.whisker").count() == 3 * len(rows)


def test_columns_of_a_phone_can_be_shown(view):
    page, _ = view("full", width=390)
    head = page.locator("#features th.optional").first
    assert not head.is_visible()
    page.locator("#features .columns-toggle").click()
    assert head.is_visible()
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    page.set_viewport_size({"width": 1000, "height": 800})
    assert not page.locator("#features .columns-toggle").is_visible()


def test_measurements_are_shown_by_their_gain(view):
    page, report = view("genes")
    names = [report.names[row["name"]] for row in report.features["rows"]]
    assert texts(page, "#features td.name") == names  # the largest gain first
    assert texts(page, "#features th")[-1].startswith("mean ± deviation in ill")
    shown = page.locator("#path").inner_text()
    assert "More than 15 features are not advised after 30 rows" in shown
    assert page.locator("#path .jump").all_text_contents() == ["this model: 5"]


def test_many_classes_have_a_map_and_lists(view):
    page, report = view("classes")
    n_classes, n_features = 12, len(report.features["rows"])
    cells = page.locator("#classes svg[aria-label^=Weights] rect.empty")
    assert cells.count() == n_classes * n_features
    tips = page.locator("#classes svg[aria-label^=Weights] rect.empty title")
    assert " for class 0: " in tips.first.text_content()
    panels = page.locator("#classes .lists .panel")
    assert panels.count() == n_classes
    for c, own in enumerate(report.data["classes"]):
        best = max(report.features["rows"], key=lambda row, c=c: row["weights"][c])
        panel = panels.nth(c)
        assert panel.locator("h4").text_content() == own["name"]
        first = panel.locator("td.label").first.text_content()
        assert first == report.names[best["name"]]
    # Labels of columns do not run into each other: lines of 12 px at 60 degrees.
    starts = page.locator("#classes svg text[transform]").evaluate_all(
        "all => all.map(e => Number(e.getAttribute('x')))"
    )
    assert all(b - a >= 14 for a, b in pairwise(starts))


def test_words_are_explained_by_mouse_key_and_finger(view):
    page, _ = view("full")
    tip = page.locator("#tip")
    assert not tip.is_visible()
    link = page.locator(".facts a.word").first
    assert link.text_content() == "accuracy"
    link.hover()
    assert tip.text_content() == "The share of rows whose class is predicted right."
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    link.focus()
    assert tip.is_visible()
    assert link.get_attribute("aria-describedby") == "tip"
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    address = page.url
    page.locator("#evaluation th a.mark").first.click()
    assert tip.is_visible()
    assert page.url == address  # the page stays where it is
    box, width = tip.bounding_box(), page.viewport_size["width"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    page.locator("h1").click()
    assert not tip.is_visible()
    # Names are somebody else's words: none of them is explained.
    assert page.locator(".name a, pre a, .text a").count() == 0


def test_penalty_slider(view):
    page, report = view("weights")
    steps = report.weight_path["steps"]
    slider = page.locator("#weights input[type=range]")
    slider.focus()
    page.keyboard.press("End")
    read = texts(page, "#weights .readout dd")
    assert read[0] == str(steps[-1]["features"])
    page.keyboard.press("Home")
    assert texts(page, "#weights .readout dd")[0] == "0"
    labels = page.locator("#weights svg[role=img]")
    assert labels.count() == 2  # the path, and the discounts
    keep_picture(page, "weights")


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("width", [320, 768])
def test_no_sideways_scrolling(view, name, width):
    page, _ = view(name, width=width)
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    if width == 320:
        keep_picture(page, f"{name}-narrow")
    # A page made wide again is drawn anew.
    page.set_viewport_size({"width": 1000, "height": 800})
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")


def test_hostile_text_stays_text(view):
    page, report = view("hostile")
    page.locator("#path input[type=range]").focus()
    for _ in report.path["steps"]:
        page.keyboard.press("ArrowRight")
    for button in page.locator("#features button.open").all():
        button.click()
    for kind in ("Most certain", "Most wrong", "On the edge"):
        page.get_by_role("button", name=kind).click()
    for span in page.locator("#documents .piece").all():
        span.click()
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, object, main b, main em, main i").count() == 0
    shown = page.locator("body").inner_text()
    assert page.locator("h1 .name").text_content() == HOSTILE[0]
    features = texts(page, "#features td.name")
    assert sorted(features) == sorted(
        report.names[row["name"]] for row in report.features["rows"]
    )
    assert any("alert(" in name for name in features)
    for attack in ("<script>alert(1)</script>", "<img src=x onerror=alert(3)>"):
        assert attack in shown
    told = page.locator("#documents article .text").text_content()
    for attack in HOSTILE[:4]:
        assert attack in told
    assert "\U0001f600" in told
    assert not set(told) & set("\x00\u202e\u2066\ud800")
    assert "<script>alert(6)</script>" in page.locator("#data").inner_text()
    assert "</script><script>alert(2)</script>" in (
        page.locator("#reproduce").inner_text()
    )
    assert page.title().startswith(HOSTILE[0])
    keep_picture(page, "hostile")


def test_hostile_labels_of_partitions_stay_text(view):
    page, _ = view("table")
    assert HOSTILE[0] in texts(page, "#columns summary .name")
    shown = page.locator("#columns").inner_text()
    assert "<i>red</i>" in shown
    assert "<em>low</em>" in shown
    assert page.locator("main i, main em").count() == 0
    keep_picture(page, "table")


def test_shapes_and_pairs_are_drawn(view):
    page, report = view("pairs")
    shapes = report.shapes
    assert page.locator("#shapes .panel").count() == (
        len(shapes["columns"]) + len(shapes["pairs"])
    )
    bins = sum(len(item["bins"]) for item in shapes["columns"] if item["edges"])
    assert page.locator("#shapes rect.touch").count() == bins
    assert page.locator("#shapes path.band").count() == sum(
        item["edges"] is not None for item in shapes["columns"]
    )
    rows = [n for item in shapes["pairs"] for n in item["rows"]]
    assert page.locator("#shapes rect[fill-opacity]").count() == sum(
        n > 0 for n in rows
    )
    assert page.locator("#shapes rect.empty").count() == sum(n == 0 for n in rows)
    shown = page.locator("#shapes").inner_text()
    assert HOSTILE[0] in shown
    assert "yes <em>!</em>" in shown
    assert page.locator("main i, main em").count() == 0
    assert "alone or in" in page.locator(".facts").inner_text()
    keep_picture(page, "pairs")


def test_the_class_of_shapes_can_be_chosen(view):
    page, report = view("table")
    assert not report.shapes["odds"]
    line = page.locator("#shapes path.curve").first
    before = line.get_attribute("d")
    page.locator("#shapes select").select_option(label="high")
    assert line.get_attribute("d") != before


def test_the_policy_stops_what_gets_past_escaping(browser, pages):
    path, _ = pages("text")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', "
        '\'<img src=x onerror="window.hit = 1"><svg onload="window.hit = 1">\')'
    )
    refused = page.evaluate(
        "fetch('https://example.org/').then(() => false, () => true)"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.hit") is None
    assert refused
    page.close()


def test_a_size_of_none_has_no_place_on_the_axis(browser, pages, tmp_path):
    """The smallest size that weights were judged at may be 0: log 0 has no ticks."""
    path, report = pages("path of scores")
    assert [step["gain"] for step in report.path["steps"]].count(None) > 2
    told = json.loads(report.to_json())
    step = dict(told["path"]["steps"][0], k=0)
    told["path"]["steps"].insert(0, step)
    other = tmp_path / "none.html"
    other.write_text(render_report(ReportData.from_json(json.dumps(told))))
    for page_path in (path, other):
        watched = Watched(browser.new_context(), page_path)
        page = watched.page
        sizes = [k for k in (s["k"] for s in told["path"]["steps"]) if k]
        page.locator("#path input[type=range]").focus()
        page.keyboard.press("Home")
        assert texts(page, "#path output") == [f"k = {sizes[0]}"]
        assert page.locator("#path svg[role=img] text").count() > 5
        drawn = page.locator("#path svg").inner_html()
        assert "NaN" not in drawn
        assert "Infinity" not in drawn
        assert watched.complaints == []
        page.context.close()


def test_scores_that_are_all_the_same_have_an_axis(browser, pages, tmp_path):
    path, report = pages("path of scores")
    told = json.loads(report.to_json())
    for step in told["path"]["steps"]:
        step["score"] = {"mean": 1.0, "error": 0.0}
    path = tmp_path / "perfect.html"
    path.write_text(render_report(ReportData.from_json(json.dumps(told))))
    watched = Watched(browser.new_context(), path)
    ticks = watched.page.locator("#path svg text[text-anchor=end]").all_text_contents()
    assert "1" in ticks
    assert len(ticks) >= 3
    assert max(map(float, ticks)) == 1
    assert watched.complaints == []
    watched.page.context.close()


def test_what_fails_leaves_the_rest_of_the_page(browser, pages, tmp_path):
    """One part of the data is broken behind the checks: its tables are shown still."""
    path, report = pages("full")
    head, data, tail = re.split(
        r'(?<=id="report">)(.*?)(?=</script>)', path.read_text(), maxsplit=1
    )
    broken = json.loads(data)
    broken["features"]["rows"] = None
    broken["evaluation"]["two_classes"]["roc"] = [None, None]
    other = tmp_path / "broken.html"
    other.write_text(head + json.dumps(broken).replace("<", "\\u003c") + tail)
    watched = Watched(browser.new_context(), other)
    page = watched.page
    assert all(own.startswith("console error") for own in watched.complaints)
    assert watched.complaints
    shown = page.locator("#features").inner_text()
    assert "could not be drawn" in shown
    names = [report.names[row["name"]] for row in report.features["rows"]]
    assert texts(page, "#features td.name") == names
    assert page.locator("#evaluation").inner_text().count("could not be drawn") == 1
    assert page.locator("#path svg[role=img]").count() == 1
    assert page.locator("#documents article").count() == 5
    assert page.locator("#evaluation svg[role=img]").count() == 5
    assert page.locator("a.word").count() > 3
    page.context.close()


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_dark_by_system_and_by_button(view):
    light, _ = view("text")
    dark, _ = view("text", scheme="dark")
    assert background(light) != background(dark)
    keep_picture(light, "light")
    keep_picture(dark, "dark")
    wanted = background(dark)
    button = light.locator("#theme")
    assert button.text_content() == "Dark"
    button.click()
    assert background(light) == wanted
    assert button.get_attribute("aria-label") == "Switch to light colours"
    dark.locator("#theme").click()
    assert background(dark) != wanted


def luminance(colour):
    channels = [int(part) / 255 for part in colour[4:-1].split(",")]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(view, scheme):
    page, _ = view("text", scheme=scheme)
    paper = luminance(background(page))
    for selector in ("h1", ".sentence", ".detail", "nav a", "th", "td", "footer"):
        colour = page.evaluate(
            "s => getComputedStyle(document.querySelector(s)).color", selector
        )
        bright, dim = sorted([paper, luminance(colour)], reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, selector


def test_everything_can_be_reached_by_keyboard(view):
    page, _ = view("text")
    reached = set()
    for _ in range(150):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "[document.activeElement.tagName, document.activeElement.type || '',"
                " document.activeElement.getAttribute('aria-label') || ''].join(' ')"
            )
        )
    assert "INPUT range Number of terms" in reached
    assert "INPUT search Find a name" in reached
    assert "BUTTON button Switch to dark colours" in reached
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter(e =>"
        " !e.textContent.trim() && !e.getAttribute('aria-label')).length"
    )
    assert unnamed == 0


def test_without_scripts_the_tables_are_there(view):
    page, report = view("full", script=False)
    assert page.locator("#proof .proven").text_content() == report.sentence
    shown = texts(page, "#features td.name")
    assert shown == [report.names[row["name"]] for row in report.features["rows"]]
    assert page.locator("#path tbody tr").count() == len(report.path["steps"])
    assert page.locator("#evaluation table").count() == 5
    assert page.locator("#documents pre").count() == len(report.documents)
    assert "1 nat makes odds" in page.locator("#words").inner_text()
    assert not page.locator("#theme").is_visible()
