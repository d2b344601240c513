// Calibration, and the parts of columns.

// Calibration.

function showCalibration(place) {
  const found = report.evaluation.calibration;
  const bins = found.bins;
  const rows = bins.reduce((sum, b) => sum + b.rows, 0);
  const largest = Math.max(...bins.map((b) => b.rows));
  const note = el("p", { class: "note" }, "Predicted probability of ");
  if (found.label === null) note.append("the predicted class");
  else note.append(el("span", { class: "name" }, found.label));
  note.append(" against how often it was right, over " + count(rows) + " held-out rows. Honest probabilities lie on the diagonal; the bars are rows.");
  place.append(note);
  const panel = el("div", { class: "panel small" });
  place.append(panel);
  figure(panel, () => "Calibration curve with " + bins.length + " bins", (width) => {
    const side = Math.min(width - EDGE.left - EDGE.right, 440);
    const height = EDGE.top + side * 0.8 + 80;
    const svg = sheet(width, height);
    const x = linear(0, 1, EDGE.left, EDGE.left + side);
    const y = linear(0, 1, EDGE.top + side * 0.8, EDGE.top + 14);
    const edge = width - EDGE.left - side;
    grid(svg, y, 0, 1, width - edge + EDGE.right, 4);
    svg.append(text(EDGE.left, EDGE.top, "observed share"));
    const bottom = EDGE.top + side * 0.8;
    for (const t of [0, 0.2, 0.4, 0.6, 0.8, 1]) svg.append(text(x(t), bottom + 62, String(t), { "text-anchor": "middle" }));
    svg.append(text(x(0.5), bottom + 77, "predicted probability", { "text-anchor": "middle" }));
    svg.append(draw("line", { class: "bound", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
    for (const b of bins) {
      const low = Math.min(Math.floor(b.predicted * 10), 9) / 10;
      const h = Math.max((34 * b.rows) / largest, 1);
      svg.append(
        draw("rect", { class: "against", x: x(low) + 1, width: x(0.1) - x(0) - 2, y: bottom + 46 - h, height: h }, draw("title", {}, count(b.rows) + " rows"))
      );
      const error = Math.sqrt((b.observed * (1 - b.observed)) / b.rows);
      svg.append(draw("line", { class: "cursor", x1: x(b.predicted), x2: x(b.predicted), y1: y(Math.max(b.observed - error, 0)), y2: y(Math.min(b.observed + error, 1)) }));
    }
    svg.append(draw("path", { class: "curve", d: line(bins.map((b) => [x(b.predicted), y(b.observed)])) }));
    for (const b of bins) {
      svg.append(
        draw("circle", { class: "point", cx: x(b.predicted), cy: y(b.observed), r: 4.5 }, draw("title", {}, percent(b.predicted) + " predicted, " + percent(b.observed) + " observed, " + count(b.rows) + " rows"))
      );
    }
    return svg;
  });
}

// Columns.

const shade = (c, n) => (n <= 2 ? [0.28, 1][c] : 0.2 + (0.8 * c) / (n - 1));
function classBar(counts) {
  const total = counts.reduce((a, b) => a + b, 0) || 1;
  const svg = draw("svg", { class: "meter", viewBox: "0 0 200 14", preserveAspectRatio: "none", "aria-hidden": "true" });
  let left = 0;
  counts.forEach((n, c) => {
    const width = (200 * n) / total;
    if (width <= 0) return;
    svg.append(draw("rect", { class: "for", "fill-opacity": shade(c, counts.length).toFixed(2), x: left, y: 1, width: width, height: 12 }, draw("title", {}, (classes[c] || "") + ": " + percent(n / total))));
    left += width;
  });
  return svg;
}
function showColumns(place) {
  const { items, total, informative } = report.columns;
  place.append(
    el("p", { class: "note" }, count(informative) + " of " + count(total) + " columns say something about the label" + (items.length < informative ? "; " + count(items.length) + " are shown" : "") + ". Numbers are cut into intervals, categories grouped, where the classes differ.")
  );
  const shown = classes.slice(0, 12);
  place.append(
    el("div", { class: "legend" }, ...shown.map((name, c) =>
      el("span", {}, draw("svg", { viewBox: "0 0 11 11", "aria-hidden": "true" }, draw("rect", { class: "for", width: 11, height: 11, "fill-opacity": shade(c, classes.length).toFixed(2) })), cut(name, 40))
    ))
  );
  items.forEach((item, i) => {
    const body = el("tbody", {}, ...item.parts.map((part) => {
      const rows = part.counts.reduce((a, b) => a + b, 0);
      const best = argmax(part.counts);
      return el(
        "tr",
        {},
        el("td", { class: "name" }, part.label),
        el("td", { class: "n" }, count(rows)),
        el("td", { class: "wide" }, classBar(part.counts)),
        el("td", { class: "n optional" }, el("span", { class: "name" }, cut(classes[best] || "", 24)), rows ? " · " + percent(part.counts[best] / rows) : "")
      );
    }));
    const aside = count(item.n_parts) + (item.kind === "numerical" ? " intervals" : " groups") + (item.weight === null ? "" : ", weight " + item.weight.toFixed(2)) + ", level " + item.level.toFixed(3);
    const hidden = item.n_parts - item.parts.length;
    const head = el("tr", {}, el("th", { scope: "col" }, "part"), el("th", { scope: "col", class: "n" }, "rows"), el("th", { scope: "col", class: "wide" }, "classes in it"), el("th", { scope: "col", class: "n optional" }, "most are"));
    const box = el(
      "details",
      i < 3 ? { open: "" } : {},
      el("summary", {}, el("span", { class: "name" }, item.name), el("span", { class: "aside" }, aside)),
      el("div", {}, el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), body)), hidden > 0 ? el("p", { class: "note" }, "and " + count(hidden) + " smaller parts") : null)
    );
    place.append(box);
  });
}
