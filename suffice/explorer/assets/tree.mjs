// The list of papers, results and rows, and of errata, with a search.
import { button, make, rich } from "./elements.mjs";

const SILENT = new Set(
  "what is are with the a an of in on does do which how i paper wrong errata erratum error".split(" "),
);

const ROMAN = ["", "i", "ii", "iii", "iv", "v"];

// Lower case without hyphens, and Theorem II as theorem 2, in questions and in what they ask for.
export const spelled = text =>
  text
    .toLowerCase()
    .replace(/-(?=\w)/g, " ")
    .replace(/\b(?<=theorem |corollary |lemma )(i{1,3}|iv|v)\b/g, number => ROMAN.indexOf(number));

// The telling words of a question: "what is wrong with Theorem 2?" asks the errata for "theorem 2".
export function wordsOf(text) {
  const words = spelled(text.replace(/[?,;!/]/g, " ")).match(/\S+/g) ?? [];
  const wrong = words.some(word => ["wrong", "errata", "erratum", "error"].includes(word));
  const telling = words.filter(word => !SILENT.has(word)).join(" ");
  return { words: telling.match(/\S+( \d+(?!\S))*/g) ?? [], wrong };
}

// A number stands for itself: "theorem 2" is not in "theorem 20".
export function holdsWord(text, word) {
  const escaped = word.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  return new RegExp(/\d$/.test(word) ? `${escaped}(?!\\d)` : escaped).test(text);
}

const holdsAll = (text, words) => words.every(word => holdsWord(text, word));
// What an entry is called, and all that it says.
const nameOf = record => spelled([record.key.replace(/[/-]/g, " "), record.title, record.place].join(" "));

function textOf(record) {
  const symbols = record.parameters.flatMap(({ name, letters, meaning }) => [name, letters, meaning]);
  const own = [record.statement, record.quantity, record.latex, record.edition, record.verdict, record.also];
  return spelled([...own, ...symbols].join(" "));
}

const nameOfErratum = entry => spelled(`${entry.id.replaceAll("-", " ")} ${entry.location}`);
const textOfErratum = entry => spelled([entry.kind, entry.claim, entry.truth, entry.said].join(" "));

// How well an entry answers: by its name rather than by its text, what is asked about errors by errata, and of these by
// the most damaging; 0 if not at all.
export function rank({ id, name, text, erratum, first }, words, wrong) {
  if (!holdsAll(`${name} ${text}`, words) || (wrong && !erratum)) return 0;
  const called = words.filter(word => holdsWord(name, word)).length / (words.length || 1);
  const key = spelled(id.replace(/[/-]/g, " "));
  const whole = key === words.join(" ") ? 9 : words.length && holdsAll(key, words) ? 2 : 0;
  const starts = words.length && name.startsWith(words[0]) ? 0.5 : 0;
  return 1 + 4 * called + starts + whole + first;
}

const resultOf = ({ key }) => key.match(/\/([a-z]+-\d+)/)?.[1].replace("-", " ") ?? "others";
const grouped = (list, of) => [...new Set(list.map(of))].map(title => [title, list.filter(one => of(one) === title)]);

export class Tree {
  constructor(root, data, open) {
    this.root = root;
    this.entries = [];
    this.line = make("p", { className: "notice", hidden: true, role: "status" });
    this.hits = make("div", { hidden: true });
    this.all = make("div", {});
    root.append(this.line, this.hits, this.all);
    for (const paper of data.papers) {
      const box = this.group(this.all, paper.citation, "paper");
      box.title = paper.title;
      const records = data.records.filter(({ key }) => key.startsWith(`${paper.key}/`));
      for (const [result, those] of grouped(records, resultOf)) {
        const inner = this.group(box, result, "result");
        for (const record of those) {
          const shown = [`${record.key.split("/")[1]} (${record.edition})`];
          const found = { id: record.key, name: nameOf(record), text: textOf(record), first: 5 / record.key.length };
          this.row(inner, paper, shown, record.verdict, { ...found, record, open: () => open({ record }) });
        }
      }
    }
    const box = this.group(this.all, "Errata: what is wrong in print", "paper");
    for (const [key, errata] of grouped(data.errata, ({ paper }) => paper)) {
      const paper = data.papers.find(one => one.key === key);
      const inner = this.group(box, paper.citation, "result");
      for (const erratum of errata) {
        const same = errata.filter(({ location }) => location === erratum.location).length > 1;
        const own = `: ${erratum.id.slice(key.length + 1).replaceAll("-", " ")}`;
        const shown = [rich(erratum.location), ...(same ? [make("span", { className: "own" }, own)] : [])];
        const found = { id: erratum.id, name: nameOfErratum(erratum), text: textOfErratum(erratum), first: erratum.worst };
        const row = this.row(inner, paper, shown, erratum.kind, { ...found, erratum, open: () => open({ erratum }) });
        row.title = erratum.claim;
      }
    }
  }

  group(parent, title, className) {
    const box = make("details", { className }, make("summary", {}, title));
    parent.append(box);
    return box;
  }

  row(parent, paper, shown, badge, found) {
    const mark = make("span", { className: `badge ${badge.replaceAll(" ", "-")}` }, badge);
    const row = button(found.open, "", make("span", {}, ...shown), " ", mark);
    parent.append(row);
    this.entries.push({ ...found, paper, button: row });
    return row;
  }

  // The entries that have all words, the best first, in place of the contents.
  search(text) {
    const { words, wrong } = wordsOf(text);
    const asked = Boolean(words.length || wrong);
    const ranks = new Map(this.entries.map(entry => [entry, rank(entry, words, wrong)]));
    const found = asked ? this.entries.filter(entry => ranks.get(entry)) : [];
    found.sort((one, other) => ranks.get(other) - ranks.get(one));
    const rows = found.map(({ button: { childNodes }, paper, open }) => {
      const shown = [...childNodes].map(node => node.cloneNode(true));
      return button(open, "", ...shown, make("span", { className: "own" }, ` ${paper.key}`));
    });
    this.first = rows[0]; // what Enter opens
    this.hits.replaceChildren(...rows);
    this.all.hidden = asked;
    this.hits.hidden = !asked;
    const count = found.length === 1 ? "1 answer" : `${found.length} answers, the best first`;
    this.line.textContent = found.length ? `${count}.` : "Nothing has all these words.";
    this.line.hidden = !asked;
  }

  select(state) {
    for (const entry of this.entries) {
      const chosen = state.erratum ? entry.erratum === state.erratum : entry.record === state.record;
      entry.button.ariaCurrent = chosen || null;
      if (!chosen || state.first) continue; // the contents are folded at first
      for (let box = entry.button.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
      if (getComputedStyle(this.root).display !== "none") entry.button.scrollIntoView({ block: "nearest" });
    }
  }
}
