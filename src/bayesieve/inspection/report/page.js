// Light and dark, and the parts put in their places.

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

// What a part says without a script, where the script fails: one part, not the page.
function showStatic(place) {
  const still = place.parentNode.querySelector("noscript");
  const parsed = new DOMParser().parseFromString(still ? still.textContent : "", "text/html");
  place.replaceChildren(el("p", { class: "note" }, "This part could not be drawn; its tables are here."), ...parsed.body.childNodes);
}

for (const [id, show] of [
  ["evaluation", showEvaluation],
  ["features", showFeatures],
  ["classes", showClasses],
  ["documents", showDocuments],
  ["path", showPath],
  ["weights", showWeights],
  ["shapes", showShapes],
  ["columns", showColumns],
]) {
  const place = live(id);
  if (!place) continue;
  try {
    show(place);
  } catch (error) {
    console.error(error);
    showStatic(place);
  }
}
explainWords();
let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return; // only the height, as phones do on scrolling
  width = window.innerWidth;
  redraws.forEach((repaint) => repaint());
});
