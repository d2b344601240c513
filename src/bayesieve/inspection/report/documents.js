// Examples: what decided, word by word or column by column.

const KINDS = [
  ["certain", "Most certain"],
  ["wrong", "Most wrong"],
  ["edge", "On the edge"],
];
function showDocuments(place) {
  const few = 5;
  const documents = report.documents;
  const there = KINDS.filter(([kind]) => documents.some((d) => d.kind === kind));
  const state = { kind: there[0][0], all: false };
  const note = el("p", { class: "note" }, "What decided in single rows: ");
  if (documents.some((d) => d.pieces.length)) {
    note.append(el("span", { class: "piece plus s3" }, "blue"), " speaks for the predicted class, ", el("span", { class: "piece less s3" }, "orange"), " against it, the darker the more. Point at a word, or tap it, to see its nats.");
  } else note.append("bars to the right speak for the predicted class, bars to the left against it, in nats.");
  place.append(note);
  const tabs = there.map(([kind, title]) => {
    const n = documents.filter((d) => d.kind === kind).length;
    const tab = el("button", { type: "button", class: "jump" }, title + " (" + n + ")");
    tab.addEventListener("click", () => {
      state.kind = kind;
      state.all = false;
      fill();
    });
    return [kind, tab];
  });
  const list = el("div", { class: "documents" });
  const more = el("button", { type: "button" });
  more.addEventListener("click", () => {
    state.all = !state.all;
    fill();
  });
  place.append(el("div", { class: "jumps", role: "group", "aria-label": "Which examples" }, ...tabs.map((t) => t[1])), list, el("p", {}, more));
  function fill() {
    const found = documents.filter((d) => d.kind === state.kind);
    list.replaceChildren(...found.slice(0, state.all ? found.length : few).map(documentCard));
    for (const [kind, tab] of tabs) tab.setAttribute("aria-pressed", String(kind === state.kind));
    more.classList.toggle("hidden", found.length <= few);
    more.textContent = state.all ? "Show fewer" : "Show all " + count(found.length);
  }
  fill();
}
function documentCard(own) {
  const wrong = own.label !== null && own.label !== own.predicted;
  const row = own.name === null ? "test row " + count(own.row) : el("span", { class: "name" }, own.name);
  const head = el("p", { class: "head" }, row, ": ", el("span", { class: "name" }, cut(own.predicted, 60)), " with " + percent(own.probability));
  if (own.label !== null) head.append(wrong ? ", in truth " : ", and it is ", el("span", { class: wrong ? "name wrong" : "name" }, wrong ? cut(own.label, 60) : "right"));
  const card = el("article", { class: "panel" }, head);
  if (own.pieces.length) card.append(highlighted(own.pieces));
  if (own.terms.length) card.append(termTable(own.terms));
  if (own.note !== null) card.append(el("p", { class: "flip" }, own.note));
  if (own.flip !== null) card.append(el("p", { class: "flip" }, own.flip));
  return card;
}
function highlighted(pieces) {
  const sizes = pieces.map((p) => (p.nats === null ? 0 : Math.abs(value(p.nats)))).filter(Number.isFinite);
  const largest = Math.max(...sizes, 1e-9);
  const told = el("p", { class: "told", role: "status" });
  const box = el("div", { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": "Text of the row" });
  for (const piece of pieces) {
    const x = piece.nats === null ? 0 : value(piece.nats);
    if (piece.nats === null || x === 0) {
      box.append(piece.text);
      continue;
    }
    const step = Math.max(Math.ceil((5 * Math.min(Math.abs(x), largest)) / largest), 1);
    const words = (piece.name === null ? cut(piece.text, 60) : nameOf(piece.name)) + ": " + nats(x);
    const span = el("span", { class: "piece " + (x > 0 ? "plus" : "less") + " s" + step, title: words }, piece.text);
    span.addEventListener("click", () => (told.textContent = words));
    box.append(span);
  }
  const both = el("div", {}, box, told);
  return both;
}
function termTable(terms) {
  const largest = largestOf(terms, (t) => [t.nats]);
  return el(
    "div",
    { class: "scroll" },
    el("table", {}, el("tbody", {}, ...terms.map((t) => el("tr", {}, el("td", { class: "label" }, t.name), el("td", { class: "label value" }, t.value), el("td", { class: "wide" }, meter(t.nats, largest, true)), el("td", { class: "n" }, signed(t.nats, true))))))
  );
}
