// The page: data, the list, the view of one record, and the address that restores them.
import { learn } from "./elements.mjs";
import { linkOf, readLink } from "./link.mjs";
import { carried } from "./solve.mjs";
import { Tree } from "./tree.mjs";
import { View } from "./view.mjs";

const data = JSON.parse(document.getElementById("data").textContent);
learn(data.typeset);
data.records.forEach((record, index) => (record.formula = FORMULAS[index]));
const [root, nav, field, menu] = ["main", "tree", "search", "menu"].map(id => document.getElementById(id));
const tree = new Tree(nav, data, asked => open(asked));
const view = new View(root, data, { open: asked => open(asked), changed: remember });
let written = null;

function usual(record) {
  const names = record.parameters.map(({ name }) => name);
  return names.includes("T") ? "T" : (Object.keys(record.instances[0]?.curves ?? {})[0] ?? names[0] ?? "");
}

// Shows a record, an erratum, or both; an erratum sets the sliders to its counterexample, a tour to where it begins.
function open({ record = null, erratum = null, values = null, along = "", start = {}, notice = "", first = false }) {
  if (erratum && !record) {
    const about = one => one.key === (erratum.key || erratum.correct) && one.edition === (erratum.edition || "printed");
    record = data.records.find(about) ?? data.records.find(one => one.key === erratum.correct) ?? null;
    if (erratum.key) values = { ...erratum.at, ...start };
  }
  const names = record ? record.parameters.map(({ name }) => name) : [];
  const state = {
    record,
    erratum,
    notice,
    first,
    values: record ? carried(record, values ?? record.at, record.at) : {},
    along: names.includes(along) ? along : record ? usual(record) : "",
  };
  view.show(state);
  tree.select(state);
  document.title = `${record ? record.key : erratum.id}: suffice`;
  unfold(false);
  if (!first) root.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

// In a narrow window the list is folded away under its button.
function unfold(open) {
  nav.classList.toggle("open", open);
  menu.ariaExpanded = open;
}

function remember(state) {
  written = state.record ? linkOf(state) : `#${new URLSearchParams({ erratum: state.erratum.id })}`;
  clearTimeout(remember.timer);
  remember.timer = setTimeout(() => history.replaceState(null, "", written), 200);
}

function follow() {
  const hash = location.hash || data.start;
  if (hash === written) return;
  const asked = readLink(hash, data);
  const erratum = data.errata.find(({ id }) => id === data.tour[0]?.erratum) ?? null;
  if (asked.wrong || (!asked.record && !asked.erratum))
    open({ record: erratum ? null : data.records[0], ...data.tour[0], erratum, notice: asked.wrong, first: true });
  else open({ ...asked, values: Object.keys(asked.values).length ? asked.values : null });
}

field.oninput = () => {
  unfold(true);
  tree.search(field.value);
};
// Braces, here and wherever keys are read: a handler that returns false takes the key from the browser.
field.onkeydown = event => {
  if (event.key === "Enter" && field.value.trim()) tree.first?.click();
};
menu.onclick = () => unfold(!nav.classList.contains("open"));
document.onkeydown = event => {
  if (event.key === "Escape" && !field.value) unfold(false);
};
document.querySelector(".skip").onclick = event => {
  event.preventDefault();
  root.focus();
};
window.onhashchange = follow;
follow();
