// What a record states, and what an erratum says against a print.
import { button, listed, make, math, rich } from "./elements.mjs";
import { shown } from "./numbers.mjs";

// `editions` are those of its key, `turn` opens another one.
export function statement(record, editions, turn, citation) {
  const tab = one => Object.assign(button(() => turn(one), "", one.edition), { ariaPressed: one === record });
  const badge = make("span", { className: `badge ${record.verdict.replaceAll(" ", "-")}` }, record.verdict);
  return make(
    "section",
    { className: "head" },
    make("h2", {}, rich(record.title), " ", badge, make("span", { className: "tabs" }, ...editions.map(tab))),
    make("p", { className: "place" }, `${citation}, `, rich(record.place), " · ", make("code", {}, record.key)),
    make("div", { className: "formula" }, record.math ? math(record.math) : rich(record.reason)),
  );
}

// The statement in words, with what it asks for.
export function details(record) {
  const facts = [
    [record.faultLabel, record.fault],
    ["Hypotheses", record.hypotheses],
    ["Tight", record.tight],
    ["Superseded by", record.superseded],
  ].filter(([, value]) => value);
  const told = ([name, value]) => [make("dt", {}, name), make("dd", { className: name.toLowerCase() }, rich(value))];
  const words = [make("h3", {}, "The statement"), make("p", {}, rich(record.statement))];
  const list = make("dl", {}, ...facts.flatMap(told));
  return make("section", {}, ...words, list, make("p", { className: "small" }, rich(record.verdictWords)));
}

// `record` is what is open, `instead` the corrected one.
export function counterexample(entry, record, instead, turn) {
  const factor = entry.said.startsWith("the ") ? `: in this example ${entry.said}` : "";
  const [printed, measured] = [entry.printed, entry.measured].map(value => make("b", {}, shown(value)));
  const numbers = make("p", { className: "numbers" }, "printed ", printed, ", true ", measured, factor);
  Object.assign(numbers.dataset, { erratum: entry.id, printed: entry.printed, measured: entry.measured });
  const other = instead && instead !== record;
  const next = other ? [button(() => turn(instead), "", `Corrected statement: ${instead.key}`)] : [];
  const set = Object.keys(entry.at).length > 0;
  const where = set ? [] : [make("p", { className: "small" }, "It is about no number that sliders could set.")];
  return make(
    "section",
    { className: `erratum ${entry.kind === "loose" ? "loose" : ""}` },
    make("h3", {}, rich(entry.location), `: ${entry.kind === "loose" ? "true, but" : entry.kind}`),
    make("p", {}, make("b", {}, "In print: "), rich(entry.claim)),
    make("p", {}, make("b", {}, "What holds: "), rich(entry.truth)),
    make("p", {}, make("b", {}, "Counterexample: "), ...listed(entry.given, "; ")),
    numbers,
    ...next,
    ...where,
  );
}
