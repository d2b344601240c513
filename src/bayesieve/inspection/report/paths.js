// The sliders over k and over the penalty, with what follows them.

// Sliders.

function chips(places, n, kind) {
  const list = el("ul", { class: "chips " + kind });
  for (const place of places) list.append(el("li", {}, nameOf(place)));
  if (n > places.length) list.append(el("li", { class: "more" }, "and " + count(n - places.length) + " more"));
  if (n === 0) list.append(el("li", { class: "more" }, "none"));
  return list;
}

// A slider over steps: a chart above, then numbers, then what follows the step.
function slider(place, options) {
  const { steps, start, jumps, label, chart, readout, below } = options;
  const panel = el("div", { class: "panel slides" });
  place.append(panel);
  const state = { at: start };
  const picture = figure(panel, () => options.describe(steps[state.at]), (width) => chart(width, state.at));
  const range = el("input", { type: "range", min: 0, max: steps.length - 1, step: 1, value: start, "aria-label": label });
  const output = el("output", {});
  panel.append(el("div", { class: "slider" }, range, output));
  const buttons = jumps.map(([words, at]) => {
    const button = el("button", { type: "button", class: "jump" }, words);
    button.addEventListener("click", () => go(at));
    return [button, at];
  });
  panel.append(el("div", { class: "jumps" }, ...buttons.map((b) => b[0])));
  const numbers = el("dl", { class: "readout", "aria-live": "polite" });
  const rest = el("div", {});
  panel.append(numbers, rest);

  function go(at) {
    state.at = Math.max(0, Math.min(steps.length - 1, at));
    const step = steps[state.at];
    range.value = String(state.at);
    range.setAttribute("aria-valuetext", options.describe(step));
    output.textContent = options.short(step);
    numbers.replaceChildren(
      ...readout(step).map(([title, words]) => el("div", {}, el("dt", {}, title), el("dd", {}, words)))
    );
    rest.replaceChildren(...below(step, state.at));
    for (const [button, target] of buttons) button.setAttribute("aria-pressed", String(target === state.at));
    picture.repaint();
  }
  range.addEventListener("input", () => go(Number(range.value)));
  picture.box.addEventListener("click", (event) => {
    const box = picture.box.getBoundingClientRect();
    go(options.nearest(event.clientX - box.left, box.width));
  });
  go(start);
}
function positionOf(steps, key, wanted) {
  if (wanted === null || wanted === undefined) return -1;
  let best = -1;
  steps.forEach((step, i) => {
    const away = Math.abs(Math.log(Math.max(step[key], 1e-300) / Math.max(wanted, 1e-300)));
    if (away < 1e-3) best = i;
  });
  return best;
}
function moves(step, previous) {
  return el(
    "div",
    { class: "moves" },
    el("div", {}, el("h3", {}, previous === null ? "The first" : "Entering after " + previous), chips(step.entered, step.n_entered, "entered")),
    el("div", {}, el("h3", {}, "Leaving"), chips(step.left, step.n_left, "left"))
  );
}

// Path over k.

function showPath(place) {
  const steps = report.path.steps.filter((s) => s.k > 0); // none has no place among logs
  if (!steps.length) return;
  const solved = steps.filter((s) => s.gain !== null);
  const scored = steps.filter((s) => s.score !== null);
  const gaps = solved.some((s) => s.gap > 1e-9 * Math.max(s.gain, 1e-300));
  let words = "Move the slider to see what each size explains";
  if (solved.length) words += ", what is proven of it";
  words += ", and which " + report.noun + " come and go.";
  place.append(el("p", { class: "note" }, words));
  if (report.path.note) place.append(el("p", { class: "note" }, report.path.note));
  const most = report.path.largest_advised;
  if (most && solved.length && (report.path.elbow === null || report.path.bic === null) && steps[steps.length - 1].k > most) {
    place.append(el("p", { class: "note" }, "More than " + count(most) + " " + report.noun + " are not advised after " + count(report.data.rows) + " rows: beyond half as many as rows, every further one seems to gain, whether it says anything or not. The elbow and BIC are marked below that only."));
  }
  const [low, high] = [steps[0].k, steps[steps.length - 1].k];
  const panels = [solved.length ? 210 : 0, scored.length ? 130 : 0];
  const across = (width) => logarithmic(low, high === low ? low + 1 : high, EDGE.left, width - EDGE.right);

  const named = [
    ["chosen", "this model"],
    ["elbow", "elbow"],
    ["bic", "least BIC"],
    ["one_se", "within one standard error"],
    ["best", "best score"],
  ];
  const jumps = [];
  for (const [key, title] of named) {
    const at = positionOf(steps, "k", report.path[key]);
    if (at >= 0) jumps.push([title + ": " + count(steps[at].k), at, key]);
  }

  function chart(width, at) {
    const height = EDGE.top + panels[0] + panels[1] + 38 + (panels[0] && panels[1] ? 22 : 0);
    const svg = sheet(width, height);
    const x = across(width);
    let top = EDGE.top;
    const step = steps[at];
    const bottom = height - 38;
    for (const t of logTicks(low, high, width / 60)) {
      svg.append(text(x(t), bottom + 18, count(t), { "text-anchor": "middle" }));
      svg.append(draw("line", { class: "axis", x1: x(t), x2: x(t), y1: bottom, y2: bottom + 4 }));
    }
    svg.append(text((EDGE.left + width - EDGE.right) / 2, bottom + 36, "number of " + report.noun + ", k", { "text-anchor": "middle" }));
    if (panels[0]) {
      const most = Math.max(...solved.map((s) => Math.max(s.gain, s.bound)), 1e-9);
      const y = linear(0, most, top + panels[0], top + 8);
      grid(svg, y, 0, most, width, 4);
      svg.append(text(EDGE.left, top + 2, "gain in log-likelihood (nats)"));
      if (gaps) {
        const up = solved.map((s) => [x(s.k), y(s.bound)]);
        const down = solved.map((s) => [x(s.k), y(s.gain)]).reverse();
        svg.append(draw("path", { class: "unproven", d: line([...up, ...down]) + "Z" }));
        svg.append(draw("path", { class: "bound", d: line(up) }));
      }
      svg.append(draw("path", { class: "curve", d: line(solved.map((s) => [x(s.k), y(s.gain)])) }));
      for (const [words, i, key] of jumps) {
        if (steps[i].gain !== null && (key === "elbow" || key === "bic" || key === "chosen")) {
          svg.append(sign(key, x(steps[i].k), y(steps[i].gain), words));
        }
      }
      if (step.gain !== null) svg.append(draw("circle", { class: "dot", cx: x(step.k), cy: y(step.gain), r: 5 }));
      top += panels[0] + 22;
    }
    if (panels[1]) {
      const lows = scored.map((s) => s.score.mean - s.score.error);
      const highs = scored.map((s) => s.score.mean + s.score.error);
      let [least, most] = [Math.min(...lows), Math.max(...highs)];
      if (most - least < 1e-6 * Math.max(Math.abs(most), 1)) {
        // All the same: a line in a run of its own, which for shares ends at 1.
        least -= 0.1;
        if (most <= 0.9 || most > 1) most += 0.1;
      }
      const y = linear(least, most, top + panels[1], top + 12);
      grid(svg, y, least, most, width, 3);
      svg.append(text(EDGE.left, top + 4, report.path.score_name));
      const up = scored.map((s) => [x(s.k), y(s.score.mean + s.score.error)]);
      const down = scored.map((s) => [x(s.k), y(s.score.mean - s.score.error)]).reverse();
      svg.append(draw("path", { class: "band", d: line([...up, ...down]) + "Z" }));
      svg.append(draw("path", { class: "curve", d: line(scored.map((s) => [x(s.k), y(s.score.mean)])) }));
      for (const [words, i, key] of jumps) {
        if (steps[i].score !== null && (key === "one_se" || key === "best")) {
          svg.append(sign(key, x(steps[i].k), y(steps[i].score.mean), words));
        }
      }
      if (step.score !== null) svg.append(draw("circle", { class: "dot", cx: x(step.k), cy: y(step.score.mean), r: 5 }));
    }
    svg.append(draw("line", { class: "cursor", x1: x(step.k), x2: x(step.k), y1: EDGE.top, y2: bottom, "stroke-opacity": 0.35 }));
    return svg;
  }

  slider(place, {
    steps: steps,
    start: closest(steps.map((s) => Math.log(s.k)), Math.log(Math.max(report.path.chosen === null ? report.data.selected : report.path.chosen, 1))),
    jumps: jumps,
    label: "Number of " + report.noun,
    chart: chart,
    nearest: (px, width) => closest(steps.map((s) => across(width)(s.k)), px),
    short: (step) => "k = " + count(step.k),
    describe: (step) =>
      "k = " + count(step.k) +
      (step.gain === null ? "" : ", gain " + number(step.gain, 6) + " nats, bound " + number(step.bound, 6)) +
      (step.score === null ? "" : ", score " + step.score.mean.toFixed(4)),
    readout: (step) => {
      const rows = [];
      if (step.gain !== null) {
        rows.push(["gain (nats)", number(step.gain, 5)], ["bound", number(step.bound, 5)]);
        const share = step.gap / Math.max(step.gain, 1e-300);
        rows.push(["gap", step.gap === 0 || share < 1e-9 ? "none, proven" : number(100 * share, 2) + " %"]);
      }
      if (scored.length) {
        const known = step.score !== null;
        rows.push(["score", known ? step.score.mean.toFixed(4) + " ± " + step.score.error.toFixed(4) : "–"]);
      }
      return rows;
    },
    below: (step, at) => {
      if (step.gain === null) return [];
      const made = [moves(step, at > 0 && steps[at - 1].gain !== null ? "k = " + count(steps[at - 1].k) : null)];
      if (step.top.length) made.push(el("h3", {}, stepTitle(step)), stepTable(step));
      return made;
    },
  });

  function stepTitle(step) {
    const shown = step.top.length;
    return shown < step.k ? "The " + shown + " strongest of these " + count(step.k) : step.k === 1 ? "This " + report.noun.replace(/s$/, "") : "These " + count(step.k) + " " + report.noun;
  }
  function stepTable(step) {
    const several = step.top[0].weights.length > 1;
    const isSigned = report.path.signed;
    const of = (row) => value(row.weights[several ? argmax(row.weights) : 0]);
    const rows = [...step.top].sort((a, b) => of(b) - of(a));
    const largest = largestOf(rows, (r) => (several ? [of(r)] : r.weights));
    return el(
      "table",
      { class: "step" },
      el("tbody", {}, ...rows.map((row) =>
        el(
          "tr",
          {},
          el("td", { class: "name" }, nameOf(row.name)),
          several ? el("td", { class: "name optional" }, classes[spokenFor(row.weights)] || "") : null,
          el("td", { class: "wide" }, meter(of(row), largest, isSigned && !several)),
          el("td", { class: "n" }, signed(of(row), isSigned))
        )
      ))
    );
  }
}
function closest(places, wanted) {
  let best = 0;
  places.forEach((p, i) => {
    if (Math.abs(p - wanted) < Math.abs(places[best] - wanted)) best = i;
  });
  return best;
}
function grid(svg, y, low, high, width, n) {
  for (const t of niceTicks(low, high, n)) {
    svg.append(draw("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: y(t), y2: y(t) }));
    svg.append(text(EDGE.left - 8, y(t) + 4, t >= 1000 ? count(t) : String(t), { "text-anchor": "end" }));
  }
}
// Shapes differ, so that colour is not needed to tell them apart.
function sign(key, x, y, words) {
  const shapes = {
    elbow: "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0",
    bic: "M-4.5 -4.5H4.5V4.5H-4.5Z",
    chosen: "M0 -6L5.5 4H-5.5Z",
    best: "M0 -6L6 0L0 6L-6 0Z",
    one_se: "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0",
  };
  return draw("path", { class: "sign", d: shapes[key], transform: "translate(" + x.toFixed(1) + " " + y.toFixed(1) + ")" }, draw("title", {}, words));
}

// Weights and penalty.

function showWeights(place) {
  const path = report.weight_path;
  const steps = path.steps;
  const positive = steps.map((s) => s.penalty).filter((p) => p > 0);
  const low = positive.length ? Math.min(...positive) : 1;
  const high = Math.max(...positive, low);
  const at = (penalty) => Math.max(penalty, low);
  place.append(
    el("p", { class: "note" }, "Each " + report.noun.slice(0, -1) + " has a weight from 0 to 1. A smaller penalty lets more of them in.")
  );
  const across = (width) => logarithmic(high, low === high ? high / 10 : low, EDGE.left, width - EDGE.names);
  const named = [["chosen", "this model"], ["one_se", "within one standard error"], ["best", "best score"]];
  const jumps = [];
  for (const [key, title] of named) {
    const i = positionOf(steps, "penalty", path[key]);
    if (i >= 0) jumps.push([title + ": " + number(steps[i].penalty, 3), i, key]);
  }
  function chart(width, now) {
    const height = Math.max(300, 70 + 14 * path.lines.length);
    const svg = sheet(width, height);
    const x = across(width);
    const bottom = height - 38;
    const y = linear(0, 1, bottom, EDGE.top + 12);
    grid(svg, y, 0, 1, width - EDGE.names + EDGE.right, 4);
    svg.append(text(EDGE.left, EDGE.top, "weight"));
    for (const t of logTicks(low, high, (width - EDGE.names - EDGE.left) / 44)) {
      svg.append(text(x(t), bottom + 18, number(t, 2), { "text-anchor": "middle" }));
    }
    svg.append(text((EDGE.left + width - EDGE.names) / 2, bottom + 36, "penalty, falling to the right", { "text-anchor": "middle" }));
    const ends = [];
    path.lines.forEach((l, i) => {
      const points = l.weights.map((w, j) => [x(at(steps[j].penalty)), y(w)]);
      svg.append(draw("path", { class: "thin" + (i < 8 ? " on" : ""), d: line(points) }, draw("title", {}, nameOf(l.name))));
      ends.push([points[points.length - 1][1], l.name, i]);
    });
    label(svg, ends, width, bottom);
    const here = x(at(steps[now].penalty));
    svg.append(draw("line", { class: "cursor", x1: here, x2: here, y1: EDGE.top + 6, y2: bottom, "stroke-opacity": 0.5 }));
    path.lines.forEach((l) => {
      if (l.weights[now] > 0) svg.append(draw("circle", { class: "dot", cx: here, cy: y(l.weights[now]), r: 3 }));
    });
    return svg;
  }
  function label(svg, ends, width, bottom) {
    ends.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
    const gap = Math.min(14, (bottom - EDGE.top) / Math.max(ends.length, 1));
    const places = [];
    ends.forEach((end, i) => places.push(i ? Math.max(end[0], places[i - 1] + gap) : end[0]));
    for (let i = places.length - 1, limit = bottom; i >= 0; i--, limit -= gap) {
      places[i] = Math.min(places[i], limit);
    }
    ends.forEach((end, i) => {
      svg.append(draw("path", { class: "axis", fill: "none", d: line([[width - EDGE.names + 2, end[0]], [width - EDGE.names + 12, places[i]]]) }));
      svg.append(text(width - EDGE.names + 16, places[i] + 4, cut(nameOf(end[1]), EDGE.longest), { class: end[2] < 8 ? "strong" : null }));
    });
  }
  slider(place, {
    steps: steps,
    start: Math.max(positionOf(steps, "penalty", path.chosen), 0),
    jumps: jumps,
    label: "Penalty",
    chart: chart,
    nearest: (px, width) => closest(steps.map((s) => across(width)(at(s.penalty))), px),
    short: (step) => "λ = " + number(step.penalty, 3),
    describe: (step) => "penalty " + number(step.penalty, 3) + ", " + count(step.features) + " " + report.noun,
    readout: (step) => {
      const rows = [[report.noun, count(step.features)], ["loss (nats)", number(step.loss, 5)]];
      if (step.dual_gap !== null) rows.push(["gap to the optimum", number(step.dual_gap, 2)]);
      if (step.score !== null) rows.push(["score", step.score.mean.toFixed(4) + " ± " + step.score.error.toFixed(4)]);
      return rows;
    },
    below: (step, i) => [moves(step, i > 0 ? "λ = " + number(steps[i - 1].penalty, 3) : null)],
  });
  if (report.discounts && report.discounts.length) showDiscounts(place);
}

function showDiscounts(place) {
  const points = report.discounts.map((d) => [value(d.strength), d.weight, d.name]);
  const finite = points.map((p) => p[0]).filter(Number.isFinite);
  const most = Math.max(...finite, 1e-9);
  place.append(el("h3", {}, "How much of its naive Bayes weight each one keeps"));
  place.append(
    el("p", { class: "note" }, "Those that repeat what others say are discounted; those that stand alone keep a weight near 1.")
  );
  const panel = el("div", { class: "panel" });
  place.append(panel);
  figure(panel, () => "Weight kept against naive Bayes weight of " + count(points.length) + " " + report.noun, (width) => {
    const height = 300;
    const svg = sheet(width, height);
    const bottom = height - 38;
    const x = linear(0, most * 1.06, EDGE.left, width - 70);
    const y = linear(0, 1, bottom, EDGE.top + 14);
    grid(svg, y, 0, 1, width, 4);
    svg.append(text(EDGE.left, EDGE.top, "weight kept"));
    for (const t of niceTicks(0, most, width / 90)) svg.append(text(x(t), bottom + 18, number(t, 3), { "text-anchor": "middle" }));
    svg.append(text((EDGE.left + width - 70) / 2, bottom + 36, width < 420 ? "naive Bayes weight (nats)" : "naive Bayes weight (nats between the classes)", { "text-anchor": "middle" }));
    const at = ([s, w]) => [x(Math.min(s, most * 1.06)), y(w)];
    const taken = points.map(at).map(([px, py]) => [px - 4, py - 4, px + 4, py + 4]);
    points.forEach(([s, w, name], i) => {
      const [px, py] = at([s, w]);
      svg.append(draw("circle", { class: "point", cx: px, cy: py, r: 4 }, draw("title", {}, nameOf(name) + ": " + w.toFixed(2))));
      const words = cut(nameOf(name), 16);
      const box = [px + 8, py - 7, px + 8 + 6.6 * words.length, py + 7];
      const free = taken.every((b) => box[2] < b[0] || b[2] < box[0] || box[3] < b[1] || b[3] < box[1]);
      if (i < 40 && free && box[2] < width) {
        taken.push(box);
        svg.append(text(px + 8, py + 4, words, { class: "strong" }));
      }
    });
    return svg;
  });
}
