// What a record states, and what an erratum says against a print.
import { button, make, math, times } from "./elements.mjs";
import { shown } from "./numbers.mjs";

// `editions` are those of its key, `turn` opens another one.
export function statement(record, editions, turn) {
  const tabs = editions.map(one => {
    const tab = button(() => turn(one), "", one.edition);
    tab.setAttribute("aria-pressed", String(one === record));
    return tab;
  });
  const badge = make("span", { className: `badge ${record.verdict.replaceAll(" ", "-")}` }, record.verdict);
  const facts = [
    [record.faultLabel, record.fault],
    ["Hypotheses", record.hypotheses],
    ["Tight", record.tight],
  ];
  if (record.superseded) facts.push(["Superseded by", record.superseded]);
  const list = make("dl", {});
  for (const [name, value] of facts.filter(([, value]) => value)) {
    list.append(make("dt", {}, name), make("dd", { className: name.toLowerCase() }, value));
  }
  const names = [make("code", {}, record.key), " ", make("span", { className: "tabs" }, ...tabs)];
  const place = make("p", { className: "place" }, `${record.place} · `, ...names);
  return make(
    "section",
    { className: "head" },
    make("h2", {}, record.title, " ", badge),
    place,
    make("p", {}, record.statement),
    make("div", { className: "formula" }, record.math ? math(record.math) : `No number: ${record.reason}`),
    list,
    make("p", { className: "small" }, record.verdictWords),
  );
}

// `record` is what is open, `instead` the corrected one.
export function counterexample(entry, record, instead, turn) {
  const inputs = entry.inputs.map(([name, value]) => `${name} = ${value}`).join("; ");
  const ratio =
    entry.printed * entry.measured > 0 ? ` (true over printed: ${times(entry.measured / entry.printed)})` : "";
  const [printed, measured] = [entry.printed, entry.measured].map(value => make("b", {}, shown(value)));
  const numbers = make("p", { className: "numbers" }, "printed ", printed, ", true ", measured, ratio);
  Object.assign(numbers.dataset, { erratum: entry.id, printed: entry.printed, measured: entry.measured });
  const other = instead && instead !== record;
  const next = other ? [button(() => turn(instead), "", `Corrected statement: ${instead.key}`)] : [];
  const set = Object.keys(entry.at).length;
  const where = set ? "The sliders stand at it." : "It is about no number that sliders could set.";
  return make(
    "section",
    { className: `erratum ${entry.kind === "loose" ? "loose" : ""}` },
    make("h3", {}, `${entry.location}: ${entry.kind === "loose" ? "true, but" : entry.kind}`),
    make("p", {}, make("b", {}, "In print: "), entry.claim),
    make("p", {}, make("b", {}, "What holds: "), entry.truth),
    make("p", {}, make("b", {}, "Counterexample: "), inputs),
    numbers,
    ...next,
    make("p", { className: "small" }, where),
  );
}
