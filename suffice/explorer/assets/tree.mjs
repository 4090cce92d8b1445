// The list of papers, results and rows, and of errata, with a search.

// An element with properties and children; texts stay texts.
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const SILENT = new Set("what is are wrong with the a an of in on does do which how i".split(" "));

export function wordsOf(text) {
  const words = text.toLowerCase().replace(/[?,;!]/g, " ").split(/\s+/).filter(Boolean);
  const telling = words.filter((word) => !SILENT.has(word));
  return telling.length || words.length === 0 ? telling : words;
}

function textOf(record) {
  const symbols = record.parameters.flatMap(({ name, letters, meaning }) => [name, letters, meaning]);
  const own = [record.key, record.key.replace(/[/-]/g, " "), record.title, record.place, record.statement];
  return [...own, record.quantity, record.latex, record.edition, record.verdict, ...symbols].join(" ").toLowerCase();
}

function textOfErratum(entry) {
  return [entry.id, entry.id.replaceAll("-", " "), entry.kind, entry.location, entry.claim, entry.truth].join(" ").toLowerCase();
}

const resultOf = (key) => key.split("/")[1].match(/^[a-z]+-\d+/)?.[0].replace("-", " ") ?? "others";

export class Tree {
  constructor(root, data, open) {
    this.root = root;
    this.entries = [];
    this.line = make("p", { className: "notice", hidden: true });
    root.append(this.line);
    for (const paper of data.papers) {
      const records = data.records.filter((record) => record.key.startsWith(`${paper.key}/`));
      const box = this.group(root, paper.citation, "paper");
      box.title = paper.title;
      for (const result of new Set(records.map((record) => resultOf(record.key)))) {
        const inner = this.group(box, result, "result");
        for (const record of records.filter((one) => resultOf(one.key) === result)) {
          const title = `${record.key.split("/")[1]} (${record.edition})`;
          this.row(inner, title, record.verdict, textOf(record), () => open({ record })).record = record;
        }
      }
    }
    const box = this.group(root, "Errata: what is wrong in print", "paper");
    for (const paper of data.papers) {
      const errata = data.errata.filter((entry) => entry.paper === paper.key);
      if (!errata.length) continue;
      const inner = this.group(box, paper.citation, "result");
      for (const erratum of errata) {
        const row = this.row(inner, erratum.location, erratum.kind, textOfErratum(erratum), () => open({ erratum }));
        row.erratum = erratum;
        row.button.title = erratum.claim;
      }
    }
  }

  group(parent, title, className) {
    const box = make("details", { className }, make("summary", {}, title));
    parent.append(box);
    return box;
  }

  row(parent, title, badge, text, open) {
    const mark = make("span", { className: `badge ${badge.replaceAll(" ", "-")}` }, badge);
    const button = make("button", { type: "button", onclick: open }, make("span", {}, title), " ", mark);
    parent.append(button);
    const entry = { button, text };
    this.entries.push(entry);
    return entry;
  }

  search(text) {
    const words = wordsOf(text);
    let found = 0;
    for (const entry of this.entries) {
      const hit = words.every((word) => entry.text.includes(word));
      entry.button.hidden = !hit;
      found += hit;
    }
    for (const box of this.root.querySelectorAll("details")) {
      box.hidden = !box.querySelector("button:not([hidden])");
      if (words.length) box.open = !box.hidden && found <= 60;
    }
    this.say(words.length && !found ? "Nothing has all these words." : "");
  }

  select(state) {
    for (const entry of this.entries) {
      const chosen = entry.erratum ? entry.erratum === state.erratum : !state.erratum && entry.record === state.record;
      if (chosen) entry.button.setAttribute("aria-current", "true");
      else entry.button.removeAttribute("aria-current");
      if (!chosen) continue;
      for (let box = entry.button.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
      if (getComputedStyle(this.root).display !== "none") entry.button.scrollIntoView({ block: "nearest" });
    }
  }

  say(text) {
    this.line.textContent = text;
    this.line.hidden = !text;
  }
}
