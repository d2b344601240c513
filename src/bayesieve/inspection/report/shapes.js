// Shapes of columns with their bands, and pairs as heat maps.

function showShapes(place) {
  const { odds, columns, n_columns, pairs, n_pairs } = report.shapes;
  const state = { of: 0 };
  const what = odds ? "log-odds of " : "score of ";
  const classOf = () => classes[odds ? 1 : state.of] || "";
  place.append(
    el(
      "p",
      { class: "note" },
      "What each term adds to the " + what,
      odds ? el("span", { class: "name" }, classOf()) : "a class",
      ", in nats: above zero it speaks for the class. Bands hold the class probability of a bin with 95 % posterior probability; the grey below a curve is where the training rows are."
    )
  );
  if (!odds) {
    const pick = el("select", { "aria-label": "Class" });
    classes.forEach((c, i) => pick.append(el("option", { value: String(i) }, cut(c, 60))));
    pick.addEventListener("change", () => {
      state.of = Number(pick.value);
      repaints.forEach((repaint) => repaint());
    });
    place.append(el("div", { class: "controls" }, "Class ", pick));
  }
  const repaints = [];
  const card = (cards, name, aside, label, paint) => {
    const panel = el("div", { class: "panel" }, el("h3", {}, el("span", { class: "name" }, cut(name, 90))), el("p", { class: "note" }, aside));
    cards.append(panel);
    repaints.push(figure(panel, label, paint).repaint);
  };
  const told = (item) => "weight " + item.weight.toFixed(2) + ", evidence " + count(item.evidence) + " nats";
  const shapes = el("div", { class: "cards" });
  place.append(shapes);
  for (const item of columns) {
    const paint = (width) => (item.edges === null ? shapeBars(item, state.of, width) : shapeSteps(item, state.of, width));
    card(shapes, item.name, told(item), () => what + classOf() + " over " + item.name, paint);
  }
  if (columns.length < n_columns) place.append(el("p", { class: "note" }, "and " + plural(n_columns - columns.length, "more column")));
  if (!pairs.length) return;
  place.append(el("h3", {}, "Pairs and triples"));
  place.append(el("p", { class: "note" }, "Blue cells speak for the class, orange ones against it; crossed ones had no training row. Between cells stand the values that part them."));
  const maps = el("div", { class: "cards" });
  place.append(maps);
  for (const item of pairs) {
    const name = item.axes.map((axis) => axis.name).join(" × ");
    card(maps, name, told(item), () => what + classOf() + " over " + name, (width) => pairMaps(item, state.of, width));
  }
  if (pairs.length < n_pairs) place.append(el("p", { class: "note" }, "and " + plural(n_pairs - pairs.length, "more pair")));
}
const nats = (x) => signed(x, true) + " nats";
const partTitle = (part, c) => part.label + ": " + nats(part.values[c]) + " (" + signed(part.low[c], true) + " to " + signed(part.high[c], true) + "), " + count(part.rows) + " rows";

// Room for the band, but not for where it goes to infinity.
function natsRange(parts, c) {
  const values = parts.map((p) => p.values[c]);
  let low = Math.min(0, ...values);
  let high = Math.max(0, ...values);
  const widths = parts.map((p) => p.high[c] - p.low[c]).sort((a, b) => a - b);
  const span = Math.max(high - low, widths[Math.floor(widths.length / 2)]) || 1;
  low = Math.min(low, Math.max(Math.min(...parts.map((p) => p.low[c])), low - 0.8 * span));
  high = Math.max(high, Math.min(Math.max(...parts.map((p) => p.high[c])), high + 0.8 * span));
  return [low, high];
}
function shapeSteps(item, c, width) {
  const { edges, bins, missing } = item;
  const height = 210;
  const bottom = height - 44;
  const svg = sheet(width, height);
  const all = missing === null ? bins : [missing, ...bins];
  const [low, high] = natsRange(all, c);
  const y = linear(low, high, bottom, EDGE.top + 4);
  const within = (v) => y(Math.max(low, Math.min(high, v)));
  const left = EDGE.left + (missing === null ? 0 : 40);
  const x = linear(edges[0], edges[edges.length - 1], left, width - EDGE.right);
  grid(svg, y, low, high, width, 3);
  const upper = [];
  const lower = [];
  const steps = [];
  const density = bins.map((b, i) => b.rows / (edges[i + 1] - edges[i] || 1));
  const densest = Math.max(...density) || 1;
  bins.forEach((b, i) => {
    const [from, to] = [x(edges[i]), x(edges[i + 1])];
    upper.push([from, within(b.high[c])], [to, within(b.high[c])]);
    lower.push([from, within(b.low[c])], [to, within(b.low[c])]);
    steps.push([from, y(b.values[c])], [to, y(b.values[c])]);
    const h = 22 * Math.sqrt(density[i] / densest);
    svg.append(draw("rect", { class: "unseen", x: from, width: Math.max(to - from - 0.3, 0.3), y: bottom + 24 - h, height: h }));
  });
  svg.append(draw("path", { class: "band", d: line([...upper, ...lower.reverse()]) + "Z" }));
  svg.append(draw("line", { class: "middle", x1: EDGE.left, x2: width - EDGE.right, y1: y(0), y2: y(0) }));
  svg.append(draw("path", { class: "curve", d: line(steps) }));
  bins.forEach((b, i) => {
    const [from, to] = [x(edges[i]), x(edges[i + 1])];
    svg.append(draw("rect", { class: "touch", x: from, width: Math.max(to - from, 1), y: EDGE.top, height: bottom - EDGE.top }, draw("title", {}, partTitle(b, c))));
  });
  if (missing !== null) {
    const at = EDGE.left + 16;
    svg.append(draw("line", { class: "cursor", x1: at, x2: at, y1: within(missing.low[c]), y2: within(missing.high[c]) }));
    svg.append(draw("circle", { class: "point", cx: at, cy: y(missing.values[c]), r: 4.5 }, draw("title", {}, partTitle(missing, c))));
    svg.append(text(at, height - 4, "missing", { "text-anchor": "middle" }));
  }
  const most = Math.max(Math.floor((width - left) / 90), 2);
  const ticks = item.ticks === null ? niceTicks(edges[0], edges[edges.length - 1], most).map((t) => ({ at: t, text: String(t) })) : item.ticks;
  const step = Math.max(Math.ceil(ticks.length / most), 1);
  ticks.forEach((tick, i) => {
    if (i % step === 0) svg.append(text(x(tick.at), height - 4, cut(tick.text, 20), { "text-anchor": "middle" }));
  });
  return svg;
}
function shapeBars(item, c, width) {
  const rowHeight = 20;
  const svg = sheet(width, item.bins.length * rowHeight + 26);
  const [low, high] = natsRange(item.bins, c);
  const left = Math.min(150, width * 0.4);
  const x = linear(low, high, left, width - EDGE.right);
  const within = (v) => x(Math.max(low, Math.min(high, v)));
  item.bins.forEach((b, i) => {
    const middle = i * rowHeight + rowHeight / 2;
    const [from, to] = [x(0), x(b.values[c])].sort((p, q) => p - q);
    svg.append(text(left - 8, middle + 4, cut(b.label, Math.floor(left / 7)), { "text-anchor": "end" }));
    svg.append(draw("rect", { class: b.values[c] >= 0 ? "for" : "minus", x: from, width: Math.max(to - from, 0.5), y: middle - 6, height: 12 }, draw("title", {}, partTitle(b, c))));
    svg.append(draw("line", { class: "cursor", x1: within(b.low[c]), x2: within(b.high[c]), y1: middle, y2: middle }));
  });
  const bottom = item.bins.length * rowHeight;
  svg.append(draw("line", { class: "middle", x1: x(0), x2: x(0), y1: 0, y2: bottom }));
  for (const t of niceTicks(low, high, 3)) svg.append(text(x(t), bottom + 15, String(t), { "text-anchor": "middle" }));
  if (item.n_bins > item.bins.length) svg.append(text(0, bottom + 15, "and " + count(item.n_bins - item.bins.length) + " more"));
  return svg;
}
function pairMaps(item, c, width) {
  const sizes = item.axes.map((axis) => axis.labels.length);
  const values = item.values[c];
  const seen = values.filter((v, i) => item.rows[i] > 0);
  const limit = Math.max(...seen.map(Math.abs), 1e-9);
  let sides = [0, 1];
  let split = null;
  if (sizes.length === 3) {
    split = sizes.indexOf(Math.min(...sizes));
    sides = [0, 1, 2].filter((k) => k !== split);
  }
  const strides = sizes.map((_, k) => sizes.slice(k + 1).reduce((a, b) => a * b, 1));
  const panels = split === null ? 1 : sizes[split];
  const across = split === null ? 1 : Math.min(panels, width < 420 ? 2 : 3);
  const [columns, rows] = sides.map((k) => sizes[k]);
  const left = Math.min(110, width * 0.28);
  const gap = 10;
  const cellWidth = ((width - left - gap * (across - 1)) / across) / columns;
  const cellHeight = Math.max(Math.min(cellWidth, split === null ? 22 : 14), 8);
  const title = split === null ? 0 : 18;
  const tall = title + rows * cellHeight + 8;
  const lines = Math.ceil(panels / across);
  // Names of categories that would run into each other are turned.
  const turned = item.axes[sides[0]].bounds === null && item.axes[sides[0]].labels.some((own) => 7 * own.length > cellWidth);
  const foot = turned ? 84 : 40;
  const svg = sheet(width, lines * tall + foot);
  for (let p = 0; p < panels; p++) {
    const x0 = left + (p % across) * (columns * cellWidth + gap);
    const y0 = Math.floor(p / across) * tall + title;
    if (split !== null) svg.append(text(x0, y0 - 5, cut(item.axes[split].labels[p], Math.floor((columns * cellWidth) / 6))));
    for (let i = 0; i < columns; i++) {
      for (let j = 0; j < rows; j++) {
        const at = i * strides[sides[0]] + j * strides[sides[1]] + (split === null ? 0 : p * strides[split]);
        const box = { x: x0 + i * cellWidth, y: y0 + (rows - 1 - j) * cellHeight, width: cellWidth, height: cellHeight };
        const where = item.axes[sides[0]].labels[i] + " × " + item.axes[sides[1]].labels[j];
        if (item.rows[at] > 0) {
          const shade = Object.assign({ class: values[at] >= 0 ? "for" : "minus", "fill-opacity": (Math.abs(values[at]) / limit).toFixed(3) }, box);
          svg.append(draw("rect", shade, draw("title", {}, where + ": " + nats(values[at]) + ", " + plural(item.rows[at], "row"))));
        } else {
          svg.append(draw("rect", Object.assign({ class: "band empty" }, box), draw("title", {}, where + ": no row")));
          svg.append(draw("line", { class: "axis", x1: box.x, x2: box.x + cellWidth, y1: box.y + cellHeight, y2: box.y }));
        }
      }
    }
    svg.append(draw("rect", { class: "frame", x: x0, y: y0, width: columns * cellWidth, height: rows * cellHeight }));
    if (p % across === 0) markSide(svg, item.axes[sides[1]], rows, 14 / cellHeight, (k, mark) => text(left - 6, y0 + (rows - k) * cellHeight + 4, cut(mark, Math.floor(left / 7)), { "text-anchor": "end" }));
    if (p + across >= panels) {
      const under = y0 + rows * cellHeight + 14;
      markSide(svg, item.axes[sides[0]], columns, (turned ? 12 : 46) / cellWidth, (k, mark) => {
        const at = x0 + k * cellWidth;
        if (!turned) return text(at, under, cut(mark, 9), { "text-anchor": "middle" });
        return text(at + 4, under - 4, cut(mark, 13), { "text-anchor": "end", transform: "rotate(-40 " + at + " " + under + ")" });
      });
    }
  }
  const names = sides.map((k) => item.axes[k].name);
  const longest = Math.floor(width / (split === null ? 20 : 26));
  const caption = "→ " + cut(names[0], longest) + " · ↑ " + cut(names[1], longest) + (split === null ? "" : " · each map: " + cut(item.axes[split].name, longest));
  svg.append(text(0, lines * tall + foot - 6, caption, { class: "strong" }));
  return svg;
}
// Bounds between cells of numbers, names in the middle of those of categories.
function markSide(svg, axis, size, room, put) {
  const marks = [];
  if (axis.bounds === null) axis.labels.forEach((label, i) => marks.push([i + 0.5, label]));
  else axis.bounds.forEach((bound, i) => marks.push(bound === "" ? [0.5, "missing"] : [i + 1, bound]));
  let last = -Infinity;
  for (const [at, label] of marks) {
    if (at - last < room) continue;
    svg.append(put(at, label));
    last = at;
  }
}
