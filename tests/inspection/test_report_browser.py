"""The report in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import os
import shutil

import pytest
from tests.conftest import ROOT
from tests.inspection.reports import (
    HOSTILE,
    class_report,
    hostile_report,
    pair_report,
    table_report,
    text_report,
    weight_report,
)

from bayesieve.inspection import render_report

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
ARTEFACTS = ROOT / ".artefacts"
MAKERS = {
    "text": text_report,
    "hostile": hostile_report,
    "table": table_report,
    "pairs": pair_report,
    "classes": class_report,
    "weights": weight_report,
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
    page.get_by_label("Class").select_option("3")
    rows = report.features["rows"]
    best = max(rows, key=lambda row: row["weights"][3])
    assert texts(page, "#features td.name")[0] == report.names[best["name"]]
    keep_picture(page, "classes")


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
    for _ in range(60):
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
    page, report = view("text", script=False)
    assert page.locator(".sentence").text_content() == report.sentence
    shown = texts(page, "#features td.name")
    assert shown == [report.names[row["name"]] for row in report.features["rows"]]
    assert page.locator("#path tbody tr").count() == len(report.path["steps"])
    assert not page.locator("#theme").is_visible()
