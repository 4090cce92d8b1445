// The list of papers, results and rows, and of errata, with a search.
import { make } from "./elements.mjs";

const SILENT = new Set(
  "what is are with the a an of in on does do which how i paper wrong errata erratum error".split(" "),
);

// The telling words of a question: "what is wrong with Theorem 2?" asks the errata for "theorem 2".
export function wordsOf(text) {
  const words = text
    .toLowerCase()
    .replace(/[?,;!/]|-(?=\w)/g, " ")
    .split(/\s+/)
    .filter(Boolean);
  const wrong = words.some(word => ["wrong", "errata", "erratum", "error"].includes(word));
  const telling = [];
  for (const word of words.filter(one => !SILENT.has(one))) {
    if (/^\d+$/.test(word) && telling.length) telling.push(`${telling.pop()} ${word}`);
    else telling.push(word);
  }
  return { words: telling, wrong };
}

// A number stands for itself: "theorem 2" is not in "theorem 20".
export function holdsWord(text, word) {
  const at = text.indexOf(word);
  return (
    at >= 0 && (!/\d$/.test(word) || !/\d/.test(text.charAt(at + word.length)) || holdsWord(text.slice(at + 1), word))
  );
}

function textOf(record) {
  const symbols = record.parameters.flatMap(({ name, letters, meaning }) => [name, letters, meaning]);
  const own = [record.key.replace(/[/-]/g, " "), record.title, record.place, record.statement];
  return [...own, record.quantity, record.latex, record.edition, record.verdict, ...symbols].join(" ").toLowerCase();
}

function textOfErratum(entry) {
  return [entry.id.replaceAll("-", " "), entry.kind, entry.location, entry.claim, entry.truth].join(" ").toLowerCase();
}

const resultOf = key =>
  key
    .split("/")[1]
    .match(/^[a-z]+-\d+/)?.[0]
    .replace("-", " ") ?? "others";

const FEW = 80;

export class Tree {
  constructor(root, data, open) {
    this.root = root;
    this.entries = [];
    this.line = make("p", { className: "notice", hidden: true });
    root.append(this.line);
    for (const paper of data.papers) {
      const records = data.records.filter(record => record.key.startsWith(`${paper.key}/`));
      const box = this.group(root, paper.citation, "paper");
      box.title = paper.title;
      for (const result of new Set(records.map(record => resultOf(record.key)))) {
        const inner = this.group(box, result, "result");
        for (const record of records.filter(one => resultOf(one.key) === result)) {
          const title = `${record.key.split("/")[1]} (${record.edition})`;
          this.row(inner, title, record.verdict, textOf(record), () => open({ record })).record = record;
        }
      }
    }
    const box = this.group(root, "Errata: what is wrong in print", "paper");
    for (const paper of data.papers) {
      const errata = data.errata.filter(entry => entry.paper === paper.key);
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
    const { words, wrong } = wordsOf(text);
    const hits = this.entries.filter(
      entry => words.every(word => holdsWord(entry.text, word)) && (!wrong || Boolean(entry.erratum)),
    );
    for (const entry of this.entries) entry.button.hidden = !hits.includes(entry);
    const found = hits.length;
    const id = ({ record, erratum }) => record?.key ?? erratum.id;
    const named = entry => words.every(word => holdsWord(id(entry).replace(/[/-]/g, " "), word));
    this.first = hits.find(entry => id(entry) === text.trim()) ?? hits.find(named) ?? hits[0]; // what Enter opens
    for (const box of this.root.querySelectorAll("details")) {
      box.hidden = !box.querySelector("button:not([hidden])");
      if (text.trim()) box.open = !box.hidden && found <= FEW;
    }
    this.say(found ? "" : "Nothing has all these words.");
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
