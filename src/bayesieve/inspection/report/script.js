"use strict";
// Names and labels are somebody else's text: they are written with textContent only.
(function () {
  const report = JSON.parse(document.getElementById("report").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const redraws = [];

  // ---------------------------------------------------------------- small tools

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

  // -------------------------------------------------------------------- scales

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

  // --------------------------------------------------------------------- bars

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

  // ------------------------------------------------------------------ features

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

  // -------------------------------------------------------------------- sliders

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
    const panel = el("div", { class: "panel" });
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

  // ---------------------------------------------------------------- path over k


  function showPath(place) {
    const { steps } = report.path;
    const solved = steps.filter((s) => s.gain !== null);
    const scored = steps.filter((s) => s.score !== null);
    const gaps = solved.some((s) => s.gap > 1e-9 * Math.max(s.gain, 1e-300));
    let words = "Move the slider to see what each size explains";
    if (solved.length) words += ", what is proven of it";
    words += ", and which " + report.noun + " come and go.";
    place.append(el("p", { class: "note" }, words));
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
        const [least, most] = [Math.min(...lows), Math.max(...highs)];
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
      start: Math.max(positionOf(steps, "k", report.path.chosen), 0),
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
      return shown < step.k ? "The " + shown + " strongest of these " + count(step.k) : "These " + count(step.k) + " " + report.noun;
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

  // -------------------------------------------------------- weights and penalty

  function showWeights(place) {
    const path = report.weight_path;
    const steps = path.steps;
    const positive = steps.map((s) => s.penalty).filter((p) => p > 0);
    const floor = Math.min(...positive) || 1;
    const [high, low] = [Math.max(...positive, floor), floor];
    const at = (penalty) => Math.max(penalty, floor);
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
      const taken = [];
      points.forEach(([s, w, name], i) => {
        const [px, py] = [x(Math.min(s, most * 1.06)), y(w)];
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

  // ---------------------------------------------------------------- calibration

  function showCalibration(place) {
    const found = report.evaluation.calibration;
    const bins = found.bins;
    const rows = bins.reduce((sum, b) => sum + b.rows, 0);
    const largest = Math.max(...bins.map((b) => b.rows));
    const note = el("p", { class: "note" }, "Predicted probability of ");
    if (found.label === null) note.append("the predicted class");
    else note.append(el("span", { class: "name" }, found.label));
    note.append(" against how often it was right, over " + count(rows) + " held-out rows. Honest probabilities lie on the diagonal; the bars are rows.");
    place.append(note);
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

  // -------------------------------------------------------------------- columns

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
      el("p", { class: "note" }, count(informative) + " of " + count(total) + " columns say something about the label" + (items.length < informative ? "; " + count(items.length) + " are shown" : "") + ". Numbers are cut into intervals, categories grouped, where the classes differ.")
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
      const aside = count(item.n_parts) + (item.kind === "numerical" ? " intervals" : " groups") + (item.weight === null ? "" : ", weight " + item.weight.toFixed(2)) + ", level " + item.level.toFixed(3);
      const hidden = item.n_parts - item.parts.length;
      const head = el("tr", {}, el("th", { scope: "col" }, "part"), el("th", { scope: "col", class: "n" }, "rows"), el("th", { scope: "col", class: "wide" }, "classes in it"), el("th", { scope: "col", class: "n optional" }, "most are"));
      const box = el(
        "details",
        i < 3 ? { open: "" } : {},
        el("summary", {}, el("span", { class: "name" }, item.name), el("span", { class: "aside" }, aside)),
        el("div", {}, el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), body)), hidden > 0 ? el("p", { class: "note" }, "and " + count(hidden) + " smaller parts") : null)
      );
      place.append(box);
    });
  }

  // ----------------------------------------------------------------------- page

  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : system.matches;
  };
  function nameButton() {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", "Switch to " + (isDark() ? "light" : "dark") + " colours");
  }
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    nameButton();
  });
  system.addEventListener("change", nameButton);
  button.classList.remove("hidden");
  nameButton();

  for (const [id, show] of [
    ["features", showFeatures],
    ["path", showPath],
    ["weights", showWeights],
    ["calibration", showCalibration],
    ["columns", showColumns],
  ]) {
    const place = live(id);
    if (place) show(place);
  }
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return; // only the height, as phones do on scrolling
    width = window.innerWidth;
    redraws.forEach((repaint) => repaint());
  });
})();
