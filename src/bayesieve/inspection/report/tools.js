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
// Spaces at the ends of a name, as n-grams of letters have them, are made visible.
const nameOf = (place) => report.names[place].replace(/^\s+|\s+$/g, (spaces) => "␣".repeat(spaces.length));
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
const plural = (n, one, many) => count(n) + " " + (n === 1 ? one : many || one + "s");
// About how wide a text is drawn: letters of East Asia are as wide as high.
function textWidth(text) {
  let width = 0;
  for (const letter of text) width += letter.codePointAt(0) >= 0x2e80 ? 12.5 : 6.7;
  return width;
}
function cutTo(text, width) {
  if (textWidth(text) <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth(letters.join("")) > width - 8) letters.pop();
  return letters.join("") + "…";
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
// What is not above zero has no place on it and stands at its lower end.
function logarithmic(first, last, from, to) {
  const least = Math.min(first, last);
  const floor = least > 0 ? least : 1e-300;
  const log = (x) => Math.log(Math.max(x, floor));
  const scale = linear(log(first), log(last), from, to);
  return (x) => scale(log(x));
}
function niceTicks(low, high, wanted) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  // A run that is lost in the digits of its ends has one tick: no step gets ahead there.
  if (high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) return [low];
  const rough = (high - low) / Math.max(wanted, 1);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) {
    ticks.push(Number(t.toPrecision(12)));
  }
  return ticks;
}
function logTicks(low, high, most) {
  if (!(low > 0) || !Number.isFinite(high)) return [];
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
    try {
      const made = paint(width);
      made.setAttribute("role", "img");
      made.setAttribute("aria-label", label());
      box.replaceChildren(made);
    } catch (error) {
      console.error(error);
      box.replaceChildren(el("p", { class: "note" }, "This picture could not be drawn."));
    }
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

function meter(x, largest, isSigned, interval) {
  x = value(x);
  const limit = largest || 1;
  const within = (v) => Math.max(-1, Math.min(1, v / limit));
  const svg = draw("svg", {
    class: "meter",
    viewBox: "0 0 200 14",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const middle = isSigned ? 100 : 0;
  const unit = isSigned ? 100 : 200;
  const share = within(x);
  const length = Math.max(Math.abs(share) * unit, 1);
  svg.append(
    draw("rect", {
      class: share < 0 ? "against" : "for",
      x: share < 0 ? middle - length : middle,
      y: 2,
      width: length,
      height: 10,
    })
  );
  const stroke = (kind, x1, y1, x2, y2) =>
    svg.append(draw("line", { class: kind, x1: x1, x2: x2, y1: y1, y2: y2, "vector-effect": "non-scaling-stroke" }));
  if (isSigned) stroke("middle", 100, 0, 100, 14);
  if (interval) {
    const [from, to] = interval.map((v) => middle + unit * within(isSigned ? v : Math.max(v, 0)));
    stroke("whisker", from, 7, to, 7);
    stroke("whisker", from, 4, from, 10);
    stroke("whisker", to, 4, to, 10);
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

// Heads of a table that can be sorted: columns are [key or null, title, class].
function sortHeads(columns, state, again) {
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
      again();
    });
    head.append(button);
    return head;
  });
  const mark = () =>
    heads.forEach((head, i) => {
      if (columns[i][0] !== null && columns[i][0] === state.key) head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  return { heads, mark };
}
function inOrder(rows, key, up) {
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const order = x < y ? -1 : x > y ? 1 : 0;
    return up ? order : -order;
  });
}
// Columns that a phone leaves out, on demand.
function moreColumns(table) {
  const button = el("button", { type: "button", class: "columns-toggle", "aria-pressed": "false" }, "All columns");
  button.addEventListener("click", () => {
    const full = table.classList.toggle("full");
    button.setAttribute("aria-pressed", String(full));
    button.textContent = full ? "Fewer columns" : "All columns";
  });
  return button;
}

// Cells in rows and columns, with labels that do not run into each other.
function heatMap(width, { rows, columns, cell, high, widest, label }) {
  const phone = width < 520;
  const longest = (labels) => Math.max(...labels.map(textWidth), 10);
  const left = Math.min(1.08 * longest(rows), phone ? 110 : 190) + 14;
  const fits = (across) => longest(columns) + 8 <= across;
  let across = Math.min((width - left) / columns.length, widest);
  const turned = !fits(across);
  const room = Math.min(longest(columns), phone ? 100 : 140);
  // A turned label leans over to the right of its column.
  const lean = turned ? room * 0.5 : 0;
  if (turned) across = Math.min((width - left - lean) / columns.length, widest);
  across = Math.max(across, 26);
  const top = (turned ? room * 0.87 + 14 : 22) + 14;
  const total = left + across * columns.length + lean;
  const svg = sheet(total, top + high * rows.length + 4);
  svg.style.width = total + "px";
  svg.append(text(left, 11, label));
  columns.forEach((name, j) => {
    const x = left + (j + 0.5) * across;
    const words = cutTo(name, room);
    const place = turned ? { transform: "rotate(-60 " + (x + 3).toFixed(1) + " " + (top - 6) + ")" } : { "text-anchor": "middle" };
    svg.append(draw("text", Object.assign({ x: turned ? x + 3 : x, y: top - 6 }, place), words, draw("title", {}, name)));
  });
  rows.forEach((name, i) => {
    const y = top + i * high;
    svg.append(draw("text", { x: left - 8, y: y + high / 2 + 4, "text-anchor": "end", class: "strong" }, cutTo(name, left - 14), draw("title", {}, name)));
    columns.forEach((_, j) => {
      const own = cell(i, j);
      const box = { x: left + j * across, y: y, width: across - 1, height: high - 1 };
      svg.append(draw("rect", Object.assign({ class: "empty" }, box), own.title ? draw("title", {}, own.title) : null));
      if (own.strength > 0) {
        svg.append(draw("rect", Object.assign({ class: own.kind, "fill-opacity": own.strength.toFixed(3) }, box), draw("title", {}, own.title)));
      }
      if (own.words && textWidth(own.words) + 4 <= across) {
        svg.append(text(box.x + box.width / 2, y + high / 2 + 4, own.words, { "text-anchor": "middle", class: own.strength > 0.7 ? "inside" : "strong" }));
      }
    });
  });
  return svg;
}
