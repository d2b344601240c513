// Words that not everybody knows, explained where they stand: by mouse, key and finger.

const tip = el("div", { id: "tip", role: "tooltip", class: "hidden" });
let tipOf = null;

function showTip(link) {
  tipOf = link;
  const entry = document.getElementById(link.getAttribute("href").slice(1));
  tip.textContent = entry.nextElementSibling.textContent;
  tip.classList.remove("hidden");
  const at = link.getBoundingClientRect();
  const width = Math.min(320, document.documentElement.clientWidth - 24);
  tip.style.width = width + "px";
  const left = Math.max(12, Math.min(at.left, document.documentElement.clientWidth - width - 12));
  tip.style.left = left + window.scrollX + "px";
  const above = at.bottom + tip.offsetHeight + 12 > window.innerHeight && at.top > tip.offsetHeight + 12;
  tip.style.top = (above ? at.top - tip.offsetHeight - 6 : at.bottom + 6) + window.scrollY + "px";
  link.setAttribute("aria-describedby", "tip");
}
function hideTip() {
  if (tipOf) tipOf.removeAttribute("aria-describedby");
  tipOf = null;
  tip.classList.add("hidden");
}
function wordLink(id, words, kind) {
  const link = el("a", { href: "#" + id, class: kind }, words);
  link.addEventListener("mouseenter", () => showTip(link));
  link.addEventListener("focus", () => showTip(link));
  link.addEventListener("mouseleave", () => document.activeElement !== link && hideTip());
  link.addEventListener("blur", hideTip);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    showTip(link);
  });
  return link;
}
function explainWords() {
  document.body.append(tip);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
  document.addEventListener("click", (event) => tipOf && !tipOf.contains(event.target) && hideTip());
  const words = [...document.querySelectorAll(".glossary dt")].map((dt) => [dt.textContent, dt.id]);
  // A longer word first: "balanced accuracy" is not "accuracy".
  words.sort((a, b) => b[0].length - a[0].length);
  const letter = /[\p{L}\p{N}]/u;
  const places = [document.querySelector("header"), ...document.querySelectorAll("main > section:not(#words)")];
  for (const place of places) {
    const seen = new Set();
    for (const node of place.querySelectorAll(".detail, .lead, .note, .facts dt, .numbers dt, h3, h4, th")) {
      if (node.closest("noscript, .panel p, .name, pre, .documents")) continue;
      explainIn(node, words, seen, letter);
    }
  }
}
function explainIn(node, words, seen, letter) {
  const inButton = node.querySelector("button");
  for (const child of [...node.childNodes]) {
    const isText = child.nodeType === Node.TEXT_NODE;
    if (!isText && child !== inButton) continue;
    const content = child.textContent;
    const lower = content.toLowerCase();
    for (const [word, id] of words) {
      const at = lower.indexOf(word.toLowerCase());
      if (at < 0 || seen.has(id)) continue;
      const whole = !letter.test(content[at - 1] || " ") && !letter.test(content[at + word.length] || " ");
      if (!whole) continue;
      seen.add(id);
      if (isText) {
        const rest = child.splitText(at);
        rest.splitText(word.length);
        node.replaceChild(wordLink(id, rest.textContent, "word"), rest);
        explainIn(node, words, seen, letter);
        return;
      }
      const mark = wordLink(id, "?", "word mark");
      mark.setAttribute("aria-label", "What is " + word + "?");
      node.append(" ", mark);
      break;
    }
  }
}
