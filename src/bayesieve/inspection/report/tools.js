// What every part of the page uses: elements, numbers, scales, bars.
// Names and labels are somebody else's text: written as text, never as markup.

const report = JSON.parse(document.getElementById("report").textContent);
const SVG = "http://www.w3.org/2000/svg";
const redraws = [];

// Small tools.

function put(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  for (const child of children) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(child));
  }
  return node;
}
const el = (tag, attributes, ...children) =>
  put(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
  put(document.createElementNS(SVG, tag), attributes, children);

const value = (x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x);
const nameOf = (place) => report.names[place];
const count = (x) => Number(x).toLocaleString("en-US", { maximumFractionDigits: 1 });
const percent = (x) => (100 * x).toFixed(1) + " %";

function number(x, digits) {
  x = value(x);
  if (x === null) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  if (Math.abs(x) >= 1000) return count(x);
  if (Math.abs(x) < 1e-4) return x.toExponential(1).replace("-", "−");
  return String(Number(x.toPrecision(digits || 4))).replace("-", "−");
}
// The same number of decimals down a column, so that the points stand in line.
function column(values) {
  const sizes = values.map((x) => Math.abs(value(x))).filter(Number.isFinite);
  const largest = Math.max(...sizes, 0);
  const decimals = largest >= 1e4 ? 0 : largest >= 100 ? 1 : largest >= 1 ? 2 : largest >= 0.01 ? 4 : 6;
  return (x) => {
    x = value(x);
    if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return x.toLocaleString("en-US", digits).replace("-", "−");
  };
}
function signed(x, withSign) {
  x = value(x);
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const text = Math.abs(x).toFixed(2);
  if (!withSign || Number(text) === 0) return text;
  return (x > 0 ? "+" : "−") + text;
}
function cut(text, longest) {
  return text.length <= longest ? text : text.slice(0, longest - 1) + "…";
}
const live = (id) => {
  const section = document.getElementById(id);
  return section && section.querySelector(".live");
};
const classes = report.data.classes.map((c) => c.name);

// Scales.

function linear(low, high, from, to) {
  const run = high - low || 1;
  return (x) => from + ((x - low) / run) * (to - from);
}
function logarithmic(low, high, from, to) {
  const scale = linear(Math.log(low), Math.log(high), from, to);
  return (x) => scale(Math.log(x));
}
function niceTicks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1) || 1;
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) {
    ticks.push(Number(t.toPrecision(12)));
  }
  return ticks;
}
function logTicks(low, high, most) {
  for (const heads of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      for (const head of heads) {
        const t = head * Math.pow(10, e);
        if (t >= low * 0.999 && t <= high * 1.001) ticks.push(t);
      }
    }
    if (ticks.length <= most || heads.length === 1) return ticks;
  }
  return [];
}
const line = (points) =>
  points.map((p, i) => (i ? "L" : "M") + p[0].toFixed(1) + " " + p[1].toFixed(1)).join("");

// Margins of a drawing; narrow ones for phones.
const EDGE = { left: 58, right: 14, top: 12, names: 110, longest: 14 };
function setEdges(width) {
  EDGE.left = width < 420 ? 42 : 58;
  EDGE.names = width < 420 ? 72 : 110;
  EDGE.longest = width < 420 ? 8 : 14;
}

// A drawing that is made anew when its place changes width.
function figure(place, label, paint) {
  const box = el("div", { class: "chart" });
  place.append(box);
  const repaint = () => {
    const width = Math.max(box.clientWidth, 220);
    setEdges(width);
    const made = paint(width);
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label());
    box.replaceChildren(made);
  };
  redraws.push(repaint);
  repaint();
  return { box, repaint };
}
function sheet(width, height) {
  return draw("svg", {
    viewBox: "0 0 " + width + " " + height,
    height: height,
    preserveAspectRatio: "xMidYMin meet",
  });
}
function text(x, y, content, attributes) {
  return draw("text", Object.assign({ x: x, y: y }, attributes), content);
}

// Bars.

function meter(x, largest, isSigned) {
  x = value(x);
  const limit = largest || 1;
  const share = Math.max(-1, Math.min(1, x / limit));
  const svg = draw("svg", {
    class: "meter",
    viewBox: "0 0 200 14",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const middle = isSigned ? 100 : 0;
  const length = Math.max(Math.abs(share) * (isSigned ? 100 : 200), 1);
  svg.append(
    draw("rect", {
      class: share < 0 ? "against" : "for",
      x: share < 0 ? middle - length : middle,
      y: 2,
      width: length,
      height: 10,
    })
  );
  if (isSigned) {
    svg.append(
      draw("line", { class: "middle", x1: 100, x2: 100, y1: 0, y2: 14, "vector-effect": "non-scaling-stroke" })
    );
  }
  return svg;
}
function largestOf(rows, which) {
  let largest = 0;
  for (const row of rows) {
    for (const w of which(row)) {
      const size = Math.abs(value(w));
      if (Number.isFinite(size)) largest = Math.max(largest, size);
    }
  }
  return largest;
}
const argmax = (weights) => {
  let best = 0;
  weights.forEach((w, c) => {
    if (value(w) > value(weights[best])) best = c;
  });
  return best;
};
// Which class a weight speaks for.
function spokenFor(weights) {
  if (weights.length > 1) return argmax(weights);
  return value(weights[0]) >= 0 ? 1 : 0;
}
