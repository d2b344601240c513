// The table of features: sorted, searched, by class.

function showFeatures(place) {
  const { rows, total } = report.features;
  const weighted = rows[0].weights !== null;
  const several = weighted && rows[0].weights.length > 1;
  const isSigned = report.features.signed;
  const counted = rows[0].counts !== null && rows[0].counts.length <= 3;
  const discounted = rows.some((r) => r.discount !== null);
  const state = { query: "", of: -1, key: weighted ? "weight" : "score", up: false, all: false };
  const few = 40;
  const scoreText = column(rows.map((row) => row.score));

  const weightOf = (row) => {
    if (!weighted) return value(row.score);
    if (!several) return value(row.weights[0]);
    return value(row.weights[state.of < 0 ? argmax(row.weights) : state.of]);
  };
  const keys = {
    name: (row) => nameOf(row.name).toLowerCase(),
    weight: weightOf,
    score: (row) => value(row.score),
    discount: (row) => row.discount,
  };

  let words = "The " + report.noun + " the model uses";
  if (weighted && isSigned && !several) {
    words += ": to the right what speaks for ";
    place.append(
      el(
        "p",
        { class: "note" },
        words,
        el("span", { class: "name" }, classes[1]),
        ", to the left for ",
        el("span", { class: "name" }, classes[0]),
        "."
      )
    );
  } else {
    place.append(el("p", { class: "note" }, words + ", the strongest first."));
  }
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
  controls.append(told);
  place.append(controls);

  const columns = [["name", "name", ""]];
  if (several) columns.push([null, "class", "optional"]);
  columns.push([null, "", "wide"]);
  if (weighted) columns.push(["weight", cut(report.features.weight_name, 36), "n"]);
  if (discounted) columns.push(["discount", "kept", "n optional"]);
  columns.push(["score", report.features.score_name, weighted ? "n optional" : "n"]);
  if (counted) {
    for (let c = 0; c < rows[0].counts.length; c++) {
      columns.push([null, report.features.counted + " in " + cut(classes[c], 24), "n optional"]);
    }
  }
  const heads = columns.map(([key, title, kind]) => {
    const head = el("th", { scope: "col", class: kind });
    if (key === null) {
      head.append(title || el("span", {}));
      return head;
    }
    const button = el("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      state.up = state.key === key ? !state.up : key === "name";
      state.key = key;
      fill();
    });
    head.append(button);
    return head;
  });
  const body = el("tbody", {});
  const more = el("button", { type: "button" });
  more.addEventListener("click", () => {
    state.all = !state.all;
    fill();
  });
  place.append(
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body)),
    el("p", {}, more)
  );

  function fill() {
    const found = rows.filter((row) => nameOf(row.name).toLowerCase().includes(state.query));
    const key = keys[state.key];
    // Those of largest score are shown; the order among them is the reader's.
    const cutAt = state.all ? found.length : few;
    const strongest =
      state.of >= 0 ? [...found].sort((a, b) => weightOf(b) - weightOf(a)) : found;
    const shown = strongest.slice(0, cutAt);
    shown.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const order = x < y ? -1 : x > y ? 1 : 0;
      return state.up ? order : -order;
    });
    // Towards the class that each speaks for, nothing is negative.
    const twoSided = isSigned && !(several && state.of < 0);
    const largest = largestOf(rows, (r) => (twoSided ? r.weights : [weightOf(r)]));
    body.replaceChildren(
      ...shown.map((row) => {
        const w = weightOf(row);
        const cells = [el("td", { class: "name" }, nameOf(row.name))];
        if (several) {
          cells.push(el("td", { class: "name optional" }, classes[spokenFor(row.weights)] || ""));
        }
        cells.push(el("td", { class: "wide" }, meter(w, largest, twoSided)));
        if (weighted) cells.push(el("td", { class: "n" }, signed(w, isSigned)));
        if (discounted) cells.push(el("td", { class: "n optional" }, row.discount === null ? "" : row.discount.toFixed(2)));
        cells.push(el("td", { class: weighted ? "n optional" : "n" }, scoreText(row.score)));
        if (counted) row.counts.forEach((n) => cells.push(el("td", { class: "n optional" }, count(n))));
        return el("tr", {}, ...cells);
      })
    );
    heads.forEach((head, i) => {
      if (columns[i][0] === state.key) head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
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
