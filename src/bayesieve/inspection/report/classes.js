// More than two classes: who speaks for whom, as a map and as lists.

const CLASSES_SHOWN = 40;
const FEATURES_SHOWN = 60;
const TERMS_OF_A_CLASS = 12;

// The largest classes, in their usual order.
function largestClasses() {
  const order = classes.map((_, c) => c);
  if (classes.length <= CLASSES_SHOWN) return order;
  const rows = report.data.classes.map((c) => c.rows || 0);
  return order.sort((a, b) => rows[b] - rows[a] || a - b).slice(0, CLASSES_SHOWN).sort((a, b) => a - b);
}
// Class by class in turn the strongest that is not there yet.
function strongestInTurn(rows, shown) {
  const sorted = shown.map((c) => inOrder(rows, (row) => value(row.weights[c]), false).filter((row) => value(row.weights[c]) > 0));
  const chosen = new Set();
  const places = shown.map(() => 0);
  for (let left = true; left && chosen.size < FEATURES_SHOWN; ) {
    left = false;
    sorted.forEach((own, i) => {
      while (places[i] < own.length && chosen.has(own[places[i]])) places[i]++;
      if (places[i] < own.length && chosen.size < FEATURES_SHOWN) {
        chosen.add(own[places[i]++]);
        left = true;
      }
    });
  }
  return [...chosen];
}
function showClasses(place) {
  const { rows } = report.features;
  const shown = largestClasses();
  const most = (row) => shown.reduce((best, c) => (value(row.weights[c]) > value(row.weights[best]) ? c : best), shown[0]);
  const drawn = strongestInTurn(rows, shown).sort((a, b) => most(a) - most(b) || value(b.weights[most(b)]) - value(a.weights[most(a)]));
  const largest = largestOf(drawn, (row) => row.weights) || 1;
  const fewer = [];
  if (shown.length < report.data.n_classes) fewer.push("the " + shown.length + " largest of " + count(report.data.n_classes) + " classes");
  if (drawn.length < report.features.total) fewer.push(count(drawn.length) + " of " + count(report.features.total) + " " + report.noun);
  place.append(
    el("p", { class: "note" }, "Blue speaks for a class, orange against it, the stronger the darker (" + report.features.weight_name + ")." + (fewer.length ? " Shown are " + fewer.join(" and ") + "." : ""))
  );
  const panel = el("div", { class: "panel" });
  place.append(panel);
  const chart = figure(panel, () => "Weights of " + drawn.length + " " + report.noun + " for " + shown.length + " classes", (width) =>
    heatMap(width, {
      rows: drawn.map((row) => nameOf(row.name)),
      columns: shown.map((c) => classes[c]),
      high: 19,
      widest: 96,
      label: "",
      cell: (i, j) => {
        const w = value(drawn[i].weights[shown[j]]);
        return {
          kind: w >= 0 ? "for" : "minus",
          strength: Math.min(Math.abs(w) / largest, 1),
          words: shown.length <= 8 ? signed(w, true) : "",
          title: nameOf(drawn[i].name) + " for " + classes[shown[j]] + ": " + signed(w, true),
        };
      },
    })
  );
  chart.box.classList.add("scroll");
  const lists = el("div", { class: "lists" });
  for (const c of shown) {
    const own = inOrder(rows, (row) => value(row.weights[c]), false).filter((row) => value(row.weights[c]) > 0).slice(0, TERMS_OF_A_CLASS);
    const top = largestOf(own, (row) => [row.weights[c]]);
    const body = own.map((row) => el("tr", {}, el("td", { class: "label" }, nameOf(row.name)), el("td", { class: "wide" }, meter(row.weights[c], top, false)), el("td", { class: "n" }, signed(row.weights[c], true))));
    lists.append(
      el("div", { class: "panel" }, el("h4", { class: "name" }, cut(classes[c], 80)), own.length ? el("table", {}, el("tbody", {}, ...body)) : el("p", { class: "note" }, "none of these " + report.noun))
    );
  }
  place.append(el("h3", {}, "Strongest " + report.noun + " of each class"), lists);
}
