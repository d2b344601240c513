// Curves of two classes, the threshold, and calibration.

// Small pictures, each with the point of the threshold that is looked at.
function showTwoClasses(place, found) {
  const { thresholds } = found;
  const state = { at: null };
  // The share of the class follows from any threshold that finds some of it.
  const known = thresholds.find((t) => t.recall > 0 && t.precision > 0);
  const share = known ? Math.min((known.precision * known.flagged) / known.recall, 1) : null;
  const falseAlarms = (t) => (share === null || share >= 1 || t.precision === null ? null : Math.min((t.flagged * (1 - t.precision)) / (1 - share), 1));
  const best = share === null ? null : [[0, 0], [share, 1], [1, 1]];
  const pictures = [
    { key: "roc", title: "ROC", aside: found.auc === null ? "" : "AUC " + found.auc.toFixed(3), across: "false alarms", up: "found", guess: [[0, 0], [1, 1]], at: (t) => [falseAlarms(t), t.recall] },
    { key: "precision_recall", title: "Precision and recall", aside: found.average_precision === null ? "" : "average precision " + found.average_precision.toFixed(3), across: "recall", up: "precision", guess: share === null ? null : [[0, share], [1, share]], at: (t) => [t.recall, t.precision] },
    { key: "lift", title: "Lift", aside: "", across: "share of rows looked at", up: "share found", guess: [[0, 0], [1, 1]], best: best, at: (t) => [t.flagged, t.recall] },
  ].filter((p) => found[p.key].length > 1);
  place.append(
    el("h3", {}, "Finding ", el("span", { class: "name" }, found.label)),
    el("p", { class: "note" }, "How well the probability of this class ranks the rows. Dashed is guessing" + (best ? "; dotted, in the last picture, is a perfect ranking" : "") + ".")
  );
  const cards = el("div", { class: "thirds" });
  place.append(cards);
  const repaints = pictures.map((own) => {
    const panel = el("div", { class: "panel" }, el("h4", {}, own.title), el("p", { class: "note" }, own.aside || "\u00a0"));
    cards.append(panel);
    return figure(panel, () => own.title + " of " + found.label + (own.aside ? ", " + own.aside : ""), (width) => unitPicture(width, found[own.key], own, state.at === null ? null : own.at(thresholds[state.at]))).repaint;
  });
  if (thresholds.length > 1) showThreshold(place, found, state, repaints);
}
function unitPicture(width, points, own, dot) {
  const left = 34;
  const side = width - left - 8;
  const high = Math.min(side, 210);
  const svg = sheet(width, high + 52);
  const x = linear(0, 1, left, left + side);
  const y = linear(0, 1, 16 + high, 16);
  for (const t of [0, 0.5, 1]) {
    svg.append(draw("line", { class: "axis", x1: x(0), x2: x(1), y1: y(t), y2: y(t) }));
    svg.append(text(left - 6, y(t) + 4, String(t), { "text-anchor": "end" }));
    svg.append(text(x(t), y(0) + 16, String(t), { "text-anchor": t === 1 ? "end" : "middle" }));
  }
  svg.append(text(left, 9, own.up), text(x(0.5), y(0) + 32, own.across, { "text-anchor": "middle" }));
  const path = (kind, list) => svg.append(draw("path", { class: kind, d: line(list.map((p) => [x(p[0]), y(p[1])])) }));
  if (own.guess) path("bound", own.guess);
  if (own.best) path("bound dotted", own.best);
  path("curve", points);
  if (dot && dot[0] !== null && dot[1] !== null) svg.append(draw("circle", { class: "dot", cx: x(dot[0]), cy: y(dot[1]), r: 5 }));
  return svg;
}

// The threshold: what happens when more or fewer rows are flagged.
function showThreshold(place, found, state, repaints) {
  const steps = found.thresholds;
  const priced = steps.some((t) => t.cost !== null);
  const note = el("p", { class: "note" }, "From which probability on is a row flagged as ", el("span", { class: "name" }, found.label), "? A low threshold finds more of them and raises more false alarms.");
  if (found.costs !== null) note.append(" A false alarm costs " + number(found.costs[0]) + ", a miss " + number(found.costs[1]) + ".");
  place.append(el("h3", {}, "Threshold"), note);
  const near = (wanted) => closest(steps.map((t) => t.threshold), wanted);
  const jumps = [];
  if (found.chosen_threshold !== null) jumps.push(["chosen: " + number(found.chosen_threshold, 3), near(found.chosen_threshold)]);
  jumps.push(["even odds: 0.5", near(0.5)]);
  if (priced) {
    const known = steps.map((t) => (t.cost === null ? Infinity : value(t.cost)));
    const least = known.indexOf(Math.min(...known));
    jumps.push(["least cost: " + number(steps[least].threshold, 3), least]);
  }
  const across = (width) => linear(0, 1, EDGE.left, width - 70);
  slider(place, {
    steps: steps,
    start: jumps[0][1],
    jumps: jumps,
    label: "Threshold",
    nearest: (px, width) => closest(steps.map((t) => across(width)(t.threshold)), px),
    short: (t) => number(t.threshold, 3),
    describe: (t) => "threshold " + number(t.threshold, 3) + ", precision " + shareText(t.precision) + ", recall " + shareText(t.recall) + ", flagged " + shareText(t.flagged),
    readout: (t) => {
      const rows = [["precision", shareText(t.precision)], ["recall", shareText(t.recall)], ["rows flagged", shareText(t.flagged)]];
      if (priced) rows.push(["cost", t.cost === null ? "–" : number(t.cost)]);
      return rows;
    },
    below: (_, at) => {
      state.at = at;
      repaints.forEach((repaint) => repaint());
      return [];
    },
    chart: (width, at) => {
      const height = 200;
      const bottom = height - 36;
      const svg = sheet(width, height);
      const x = across(width);
      const y = linear(0, 1, bottom, EDGE.top + 6);
      grid(svg, y, 0, 1, width - 70 + EDGE.right, 2);
      for (const t of [0, 0.25, 0.5, 0.75, 1]) svg.append(text(x(t), bottom + 16, String(t), { "text-anchor": "middle" }));
      svg.append(text((EDGE.left + width - 70) / 2, bottom + 33, "threshold", { "text-anchor": "middle" }));
      const ends = [];
      for (const [key, kind] of [["recall", "curve"], ["precision", "curve second"], ["flagged", "bound"]]) {
        const points = steps.filter((t) => t[key] !== null).map((t) => [x(t.threshold), y(t[key])]).sort((a, b) => a[0] - b[0]);
        if (!points.length) continue;
        svg.append(draw("path", { class: kind, d: line(points) }));
        ends.push([points[points.length - 1][1], key]);
      }
      ends.sort((a, b) => a[0] - b[0]);
      ends.forEach((end, i) => {
        if (i) end[0] = Math.max(end[0], ends[i - 1][0] + 14);
      });
      const over = ends.length ? Math.max(ends[ends.length - 1][0] - bottom, 0) : 0;
      for (const [at, key] of ends) svg.append(text(width - 62, at - over + 4, key, { class: "strong" }));
      const here = x(steps[at].threshold);
      svg.append(draw("line", { class: "cursor", x1: here, x2: here, y1: EDGE.top, y2: bottom, "stroke-opacity": 0.5 }));
      return svg;
    },
  });
}
const shareText = (x) => (x === null ? "–" : percent(x));

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
  place.append(el("h3", {}, "Calibration: do the probabilities mean what they say?"), note);
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
