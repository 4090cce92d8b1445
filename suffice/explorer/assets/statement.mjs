// What a record states, and what an erratum says against a print.
import { make, math, times } from "./elements.mjs";
import { shown } from "./numbers.mjs";

// `editions` are those of its key, `turn` opens another one.
export function statement(record, editions, turn) {
  const tabs = editions.map(one => {
    const chosen = one === record;
    const button = make("button", { type: "button", onclick: () => turn(one) }, one.edition);
    button.setAttribute("aria-pressed", String(chosen));
    return button;
  });
  const badge = make("span", { className: `badge ${record.verdict.replaceAll(" ", "-")}` }, record.verdict);
  const facts = [
    ["Fault", record.fault],
    ["Hypotheses", record.hypotheses],
    ["Tight", record.tight],
  ];
  if (record.superseded) facts.push(["Superseded by", record.superseded]);
  const list = make("dl", {});
  for (const [name, value] of facts.filter(([, value]) => value)) {
    list.append(make("dt", {}, name), make("dd", { className: name.toLowerCase() }, value));
  }
  return make(
    "section",
    { className: "head" },
    make("h2", {}, record.title, " ", badge),
    make(
      "p",
      { className: "place" },
      `${record.place} · `,
      make("code", {}, record.key),
      " ",
      make("span", { className: "tabs" }, ...tabs),
    ),
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
  const numbers = make(
    "p",
    { className: "numbers" },
    "printed ",
    make("b", {}, shown(entry.printed)),
    ", true ",
    make("b", {}, shown(entry.measured)),
    ratio,
  );
  Object.assign(numbers.dataset, { erratum: entry.id, printed: entry.printed, measured: entry.measured });
  const next = [];
  if (instead && instead !== record) {
    next.push(make("button", { type: "button", onclick: () => turn(instead) }, `Corrected statement: ${instead.key}`));
  }
  return make(
    "section",
    { className: `erratum ${entry.kind === "loose" ? "loose" : ""}` },
    make("h3", {}, `${entry.location}: ${entry.kind === "loose" ? "true, but" : entry.kind}`),
    make("p", {}, make("b", {}, "In print: "), entry.claim),
    make("p", {}, make("b", {}, "What holds: "), entry.truth),
    make("p", {}, make("b", {}, "Counterexample: "), inputs),
    numbers,
    ...next,
    make(
      "p",
      { className: "small" },
      entry.at && Object.keys(entry.at).length
        ? "The sliders stand at it."
        : "It is about no number that sliders could set.",
    ),
  );
}
