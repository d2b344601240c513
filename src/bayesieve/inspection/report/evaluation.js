// How good the model is on new rows: against others, by class, and what it mixes up.

function showEvaluation(place) {
  const found = report.evaluation;
  if (found.contenders && found.contenders.length) showContenders(place, found);
  const twoOrMore = found.confusion && found.confusion.names.length > 1;
  if (twoOrMore) showConfusion(place, found.confusion);
  if (found.per_class && found.per_class.length) showPerClass(place, found.per_class);
  if (found.two_classes) showTwoClasses(place, found.two_classes);
  if (found.calibration && found.calibration.bins.length) showCalibration(place);
}

// Bars are of the mistakes: they begin at zero, and a difference that matters is seen.
function showContenders(place, found) {
  const rows = found.contenders;
  const largest = Math.max(...rows.map((r) => 1 - r.accuracy), 1e-9);
  const lost = rows.some((r) => r.log_loss !== null);
  const sized = rows.some((r) => r.features !== null);
  place.append(el("h3", {}, "Against others on the same rows"));
  const head = [
    el("th", { scope: "col" }, "model"),
    sized ? el("th", { scope: "col", class: "n optional" }, report.noun) : null,
    el("th", { scope: "col", class: "wide" }, "share of mistakes"),
    el("th", { scope: "col", class: "n" }, "accuracy"),
    lost ? el("th", { scope: "col", class: "n optional" }, "log loss") : null,
  ];
  const body = rows.map((row) => {
    const known = row.chosen && found.accuracy_low !== null && found.accuracy_high !== null;
    const interval = known ? [1 - found.accuracy_high, 1 - found.accuracy_low] : null;
    return el(
      "tr",
      row.chosen ? { class: "chosen" } : {},
      el("td", { class: "name" }, row.name),
      sized ? el("td", { class: "n optional" }, row.features === null ? "" : count(row.features)) : null,
      el("td", { class: "wide" }, meter(1 - row.accuracy, largest * 1.05, false, interval)),
      el("td", { class: "n" }, percent(row.accuracy)),
      lost ? el("td", { class: "n optional" }, row.log_loss === null ? "" : row.log_loss.toFixed(3)) : null
    );
  });
  const table = el("table", { class: "contenders" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body));
  if (lost || sized) place.append(el("div", { class: "controls" }, moreColumns(table)));
  place.append(el("div", { class: "scroll" }, table));
}

function showConfusion(place, { names, counts }) {
  const sums = counts.map((row) => row.reduce((a, b) => a + b, 0));
  const mixed = [];
  counts.forEach((row, i) => row.forEach((n, j) => {
    if (i !== j && n > 0) mixed.push([n, i, j]);
  }));
  mixed.sort((a, b) => b[0] - a[0]);
  place.append(el("h3", {}, "What is taken for what"));
  const note = el("p", { class: "note" }, "Each line is a true class, each column what was predicted; the darker, the larger the share of the line. Blue is right, orange wrong.");
  if (names.length > 2 && mixed.length) {
    note.append(" Most often mixed up: ");
    mixed.slice(0, 3).forEach(([n, i, j], at) => {
      note.append(at ? "; " : "", el("span", { class: "name" }, cut(names[i], 40)), " taken for ", el("span", { class: "name" }, cut(names[j], 40)), " (" + count(n) + ")");
    });
    note.append(".");
  }
  place.append(note);
  const panel = el("div", { class: "panel" });
  place.append(panel);
  const chart = figure(panel, () => "Confusion matrix of " + plural(names.length, "class", "classes"), (width) =>
    heatMap(width, {
      rows: names,
      columns: names,
      high: names.length > 14 ? 22 : 30,
      widest: 120,
      label: "predicted as",
      cell: (i, j) => {
        const n = counts[i][j];
        const share = sums[i] ? n / sums[i] : 0;
        return {
          kind: i === j ? "for" : "minus",
          strength: n > 0 ? Math.max(share, 0.06) : 0,
          words: n > 0 ? count(n) : names.length > 14 ? "" : "0",
          title: names[i] + " predicted as " + names[j] + ": " + count(n) + " of " + count(sums[i]) + " rows (" + percent(share) + ")",
        };
      },
    })
  );
  chart.box.classList.add("scroll");
}

function showPerClass(place, rows) {
  const few = 20;
  const state = { key: "rows", up: false, all: false };
  place.append(el("h3", {}, "Each class"));
  const columns = [
    ["name", "class", ""],
    ["rows", "rows", "n"],
    ["predicted", "predicted", "n optional"],
    [null, "", "wide"],
    ["f1", "F1", "n"],
    ["precision", "precision", "n optional"],
    ["recall", "recall", "n optional"],
  ];
  const keys = (row) => (state.key === "name" ? row.name.toLowerCase() : row[state.key] === null ? -1 : row[state.key]);
  const { heads, mark } = sortHeads(columns, state, fill);
  const body = el("tbody", {});
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body);
  const more = el("button", { type: "button" });
  more.addEventListener("click", () => {
    state.all = !state.all;
    fill();
  });
  place.append(el("div", { class: "controls" }, moreColumns(table)), el("div", { class: "scroll" }, table), el("p", {}, more));
  function fill() {
    const sorted = inOrder(rows, keys, state.up);
    body.replaceChildren(
      ...sorted.slice(0, state.all ? rows.length : few).map((row) =>
        el(
          "tr",
          {},
          el("td", { class: "name" }, row.name),
          el("td", { class: "n" }, count(row.rows)),
          el("td", { class: "n optional" }, count(row.predicted)),
          el("td", { class: "wide" }, meter(row.f1 || 0, 1, false)),
          el("td", { class: "n" }, shareText(row.f1)),
          el("td", { class: "n optional" }, shareText(row.precision)),
          el("td", { class: "n optional" }, shareText(row.recall))
        )
      )
    );
    mark();
    more.classList.toggle("hidden", rows.length <= few);
    more.textContent = state.all ? "Show fewer" : "Show all " + count(rows.length);
  }
  fill();
}
