// The state as the part of the address behind #, and back.
import { plain } from "./numbers.mjs";
import { refusal } from "./solve.mjs";

export function linkOf(state) {
  const fields = new URLSearchParams({ key: state.record.key, edition: state.record.edition });
  if (state.along) fields.set("along", state.along);
  if (state.erratum) fields.set("erratum", state.erratum.id);
  for (const parameter of state.record.parameters)
    fields.set(`at.${parameter.name}`, plain(state.values[parameter.name]));
  return `#${fields}`;
}

// What a link asks for: a record with values, an erratum, a part of the list; and a line about what is wrong with it.
export function readLink(text, data) {
  const fields = new URLSearchParams(text.replace(/^#/, ""));
  const asked = { record: null, erratum: null, values: {}, along: "", wrong: "" };
  if (fields.has("erratum")) {
    asked.erratum = data.errata.find(entry => entry.id === fields.get("erratum")) ?? null;
    if (!asked.erratum) return { ...asked, wrong: `no erratum is called ${fields.get("erratum")}` };
  }
  const key = fields.get("key");
  if (key === null) return asked;
  const editions = data.records.filter(record => record.key === key);
  const record = editions.find(one => one.edition === fields.get("edition")) ?? editions.at(-1);
  if (!record) return { ...asked, erratum: null, wrong: `no record has the key ${key}` };
  for (const parameter of record.parameters) {
    const given = fields.get(`at.${parameter.name}`);
    if (given === null) continue;
    const why = refusal(parameter, given);
    if (why) return { ...asked, erratum: null, wrong: `${parameter.name} = ${given}: ${why}` };
    asked.values[parameter.name] = Number(given);
  }
  const along = fields.get("along");
  asked.along = record.parameters.some(parameter => parameter.name === along) ? along : "";
  return { ...asked, record };
}
