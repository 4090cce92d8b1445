// What people take away: the number in Python, at the command line and in LaTeX.
import { plain, shown } from "./numbers.mjs";
import { boundAt } from "./solve.mjs";

const argumentsOf = (record, values, join) =>
  record.parameters.map(({ name }) => `${name}=${plain(values[name])}`).join(join);
const number = (record, values) => shown(boundAt(record, values), record.direction);

export function asPython(record, values, meets) {
  const edition = record.edition === "printed" ? ', "printed"' : "";
  const given = (meets ? "" : "enforce=False, ") + argumentsOf(record, values, ", ");
  return `from suffice.bounds import evaluate, find

theorem = find("${record.key}"${edition})
print(evaluate(theorem, ${given}))  # ${number(record, values)}
`;
}

export function asCommand(record, values, meets) {
  const edition = record.edition === "printed" ? " --edition printed" : "";
  const refused = meets ? "" : "# the command refuses these values: a condition fails\n";
  return `${refused}suffice theorem ${record.key}${edition} ${argumentsOf(record, values, " ")}\n`;
}

export function asLatex(record, values) {
  const relation = record.direction === "upper" ? "\\le" : "\\ge"; // the number is rounded away from the formula
  const power = number(record, values).replace(/e(-?\d+)$/, " \\cdot 10^{$1}");
  const where = `% ${record.key} (${record.edition}) at ${argumentsOf(record, values, ", ")}`;
  return `${where}\n${record.latex} ${relation} ${power}\n`;
}
