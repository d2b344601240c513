// The table of features: sorted, searched, by class, and what is known of each.

function showFeatures(place) {
  const { rows, total } = report.features;
  const weighted = rows[0].weights !== null;
  const several = weighted && rows[0].weights.length > 1;
  const isSigned = report.features.signed;
  const few = 40;
  const facts = classFacts();
  const narrow = facts && facts.by.length > 0 && classes.length <= 3;
  const discounted = rows.some((r) => r.discount !== null);
  const sure = rows.some((r) => r.odds);
  const againstRest = several && sure;
  const measured = rows.some((r) => r.means);
  const state = { query: "", of: -1, key: weighted && !measured ? "weight" : "score", up: false, all: false };
  const scoreText = column(rows.map((row) => row.score));

  // With several classes a feature is told by its odds for its own class, if known.
  const byOdds = () => againstRest && state.of < 0;
  const weightOf = (row) => {
    if (!weighted) return value(row.score);
    if (!several) return value(row.weights[0]);
    if (byOdds() && row.odds) return value(row.odds.value);
    return value(row.weights[state.of < 0 ? argmax(row.weights) : state.of]);
  };
  const keys = {
    name: (row) => nameOf(row.name).toLowerCase(),
    weight: weightOf,
    score: (row) => value(row.score),
    discount: (row) => row.discount,
  };

  const note = el("p", { class: "note" }, "The " + report.noun + " the model uses");
  if (weighted && isSigned && !several) {
    note.append(": to the right what speaks for ", el("span", { class: "name" }, classes[1]), ", to the left for ", el("span", { class: "name" }, classes[0]), ".");
  } else note.append(", the strongest first.");
  if (measured) note.append(" They were chosen by their gain: how much better each class's own mean and spread tell the values than common ones.");
  if (sure) note.append(" Whiskers are the 95 % interval" + (againstRest ? " of the log-odds of its class against all others." : "."));
  if (facts || rows.some((r) => r.contexts)) note.append(" Open a name to see where it stands.");
  place.append(note);

  const search = el("input", { type: "search", placeholder: "find a name", "aria-label": "Find a name" });
  const controls = el("div", { class: "controls" }, search);
  if (several) {
    const pick = el("select", { "aria-label": "Class" }, el("option", { value: "-1" }, "the class each speaks for"));
    classes.forEach((c, i) => pick.append(el("option", { value: String(i) }, cut(c, 60))));
    pick.addEventListener("change", () => {
      state.of = Number(pick.value);
      state.key = "weight";
      state.up = false;
      fill();
    });
    controls.append(pick);
  }
  const told = el("span", { role: "status" });

  const columns = [["name", "name", ""]];
  if (several) columns.push([null, "class", "optional"]);
  columns.push([null, "", "wide"]);
  if (weighted) columns.push(["weight", againstRest ? "log-odds" : cut(report.features.weight_name, 44), "n"]);
  if (sure) columns.push([null, "95 % interval", "n optional"]);
  if (discounted) columns.push(["discount", "kept", "n optional"]);
  columns.push(["score", report.features.score_name, weighted && !measured ? "n optional" : "n"]);
  if (narrow) classes.forEach((name) => columns.push([null, facts.title + " in " + cut(name, 24), "n optional"]));
  const { heads, mark } = sortHeads(columns, state, fill);
  const body = el("tbody", {});
  const table = el("table", { class: columns.length > 5 ? "many" : "" }, el("thead", {}, el("tr", {}, ...heads)), body);
  const more = el("button", { type: "button" });
  more.addEventListener("click", () => {
    state.all = !state.all;
    fill();
  });
  controls.append(moreColumns(table), told);
  place.append(controls, el("div", { class: "scroll" }, table), el("p", {}, more));

  // What is shown of each class: documents, or occurrences, or mean and spread.
  function classFacts() {
    const first = rows[0];
    if (first.means) {
      return { title: "mean ± deviation", by: first.means, short: (row, c) => number(row.means[c], 3) + (row.deviations ? " ± " + number(row.deviations[c], 2) : "") };
    }
    const documents = (row) => row.documents || (report.features.counted === "rows" ? row.counts : null);
    const size = (c) => report.data.classes[c].rows;
    if (documents(first)) {
      const noun = first.documents ? "documents" : "rows";
      return { title: noun, by: documents(first), documents: documents, short: (row, c) => count(documents(row)[c]) + (size(c) ? " · " + percent(documents(row)[c] / size(c)) : "") };
    }
    if (first.counts) return { title: report.features.counted, by: first.counts, short: (row, c) => count(row.counts[c]) };
    return null;
  }
  function opened(row) {
    const box = el("div", { class: "opened" });
    if (row.contexts) {
      box.append(el("ul", { class: "contexts" }, ...row.contexts.map(([before, match, after]) => el("li", { dir: "auto" }, before, el("mark", {}, match), after))));
    }
    if (facts) {
      const order = classes.map((_, c) => c);
      if (several) order.sort((a, b) => value(row.weights[b]) - value(row.weights[a]));
      const titles = ["class", facts.title];
      if (row.documents && row.counts) titles.push("occurrences", "in each document");
      if (several) titles.push(cut(report.features.weight_name, 44));
      const lines = order.slice(0, 12).map((c) => {
        const cells = [el("td", { class: "label" }, classes[c]), el("td", { class: "n" }, facts.short(row, c))];
        if (row.documents && row.counts) cells.push(el("td", { class: "n" }, count(row.counts[c])), el("td", { class: "n" }, row.documents[c] ? number(row.counts[c] / row.documents[c], 2) : ""));
        if (several) cells.push(el("td", { class: "n" }, signed(row.weights[c], isSigned)));
        return el("tr", {}, ...cells);
      });
      const head = titles.map((title, i) => el("th", { scope: "col", class: i ? "n" : "" }, title));
      box.append(el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...lines))));
      if (order.length > 12) box.append(el("p", { class: "note" }, "and " + plural(order.length - 12, "more class", "more classes")));
    }
    return box;
  }
  function nameCell(row, line) {
    if (!facts && !row.contexts) return el("td", { class: "name" }, nameOf(row.name));
    const button = el("button", { type: "button", class: "open", "aria-expanded": "false" }, nameOf(row.name));
    button.addEventListener("click", () => {
      const next = line.nextElementSibling;
      const there = next && next.classList.contains("more");
      if (there) next.remove();
      else line.after(el("tr", { class: "more" }, el("td", { colspan: columns.length }, opened(row))));
      button.setAttribute("aria-expanded", String(!there));
    });
    return el("td", { class: "name" }, button);
  }

  function fill() {
    const found = rows.filter((row) => nameOf(row.name).toLowerCase().includes(state.query));
    const key = keys[state.key];
    // Those of largest score are shown; the order among them is the reader's.
    const cutAt = state.all ? found.length : few;
    const strongest = state.of >= 0 ? inOrder(found, weightOf, false) : found;
    const shown = inOrder(strongest.slice(0, cutAt), key, state.up);
    // Towards the class that each speaks for, nothing is negative.
    const twoSided = isSigned && !(several && state.of < 0);
    const ends = (row) => (row.odds && !several ? [row.odds.low, row.odds.high] : []);
    const largest = largestOf(shown, (r) => (byOdds() || !weighted ? [weightOf(r)] : twoSided ? [...r.weights, ...ends(r)] : [weightOf(r)]));
    body.replaceChildren(
      ...shown.map((row) => {
        const w = weightOf(row);
        const line = el("tr", {});
        const interval = row.odds && (!several || byOdds()) ? [value(row.odds.low), value(row.odds.high)] : null;
        line.append(nameCell(row, line));
        if (several) line.append(el("td", { class: "name optional" }, classes[spokenFor(row.weights)] || ""));
        line.append(el("td", { class: "wide" }, meter(w, byOdds() ? largest * 1.15 : largest, twoSided, interval)));
        if (weighted) line.append(el("td", { class: "n" }, signed(w, isSigned)));
        if (sure) line.append(el("td", { class: "n optional" }, interval ? signed(interval[0], isSigned) + " to " + signed(interval[1], isSigned) : ""));
        if (discounted) line.append(el("td", { class: "n optional" }, row.discount === null ? "" : row.discount.toFixed(2)));
        line.append(el("td", { class: weighted && !measured ? "n optional" : "n" }, scoreText(row.score)));
        if (narrow) classes.forEach((_, c) => line.append(el("td", { class: "n optional" }, facts.short(row, c))));
        return line;
      })
    );
    mark();
    let words = shown.length < found.length ? count(shown.length) + " of " + count(found.length) + " shown" : count(found.length) + " shown";
    if (total > rows.length) words += "; the report keeps the " + count(rows.length) + " strongest of " + count(total);
    told.textContent = words;
    more.classList.toggle("hidden", found.length <= few);
    more.textContent = state.all ? "Show fewer" : "Show all " + count(found.length);
  }
  search.addEventListener("input", () => {
    state.query = search.value.toLowerCase();
    fill();
  });
  fill();
}
