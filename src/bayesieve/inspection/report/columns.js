// The parts of columns.

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
    el("p", { class: "note" }, count(informative) + " of " + plural(total, "column") + (informative === 1 ? " says" : " say") + " something about the label" + (items.length < informative ? "; " + count(items.length) + " are shown" : "") + ". Numbers are cut into intervals, categories grouped, where the classes differ.")
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
    const aside = plural(item.n_parts, item.kind === "numerical" ? "interval" : "group") + (item.weight === null ? "" : ", weight " + item.weight.toFixed(2)) + ", level " + item.level.toFixed(3);
    const hidden = item.n_parts - item.parts.length;
    const head = el("tr", {}, el("th", { scope: "col" }, "part"), el("th", { scope: "col", class: "n" }, "rows"), el("th", { scope: "col", class: "wide" }, "classes in it"), el("th", { scope: "col", class: "n optional" }, "most are"));
    const box = el(
      "details",
      i < 3 ? { open: "" } : {},
      el("summary", {}, el("span", { class: "name" }, item.name), el("span", { class: "aside" }, aside)),
      el("div", {}, el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), body)), hidden > 0 ? el("p", { class: "note" }, "and " + plural(hidden, "smaller part")) : null)
    );
    place.append(box);
  });
}
