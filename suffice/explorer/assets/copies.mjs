// What people take away: the number in Python, at the command line and in LaTeX.
import { plain, shown } from "./numbers.mjs";
import { boundAt } from "./solve.mjs";

const argumentsOf = (record, values, join) =>
  record.parameters.map(({ name }) => `${name}=${plain(values[name])}`).join(join);

export function asPython(record, values, meets) {
  const edition = record.edition === "printed" ? ', "printed"' : "";
  const enforce = meets ? "" : "enforce=False, ";
  const number = record.formula.bound ? `  # ${shown(boundAt(record, values), record.direction)}` : "";
  return [
    "from suffice.bounds import evaluate, find",
    "",
    `theorem = find("${record.key}"${edition})`,
    `print(evaluate(theorem, ${enforce}${argumentsOf(record, values, ", ")}))${number}`,
    "",
  ].join("\n");
}

export function asCommand(record, values, meets) {
  const edition = record.edition === "printed" ? " --edition printed" : "";
  const refused = meets ? "" : "# the command refuses these values: a condition fails\n";
  return `${refused}suffice theorem ${record.key}${edition} ${argumentsOf(record, values, " ")}\n`;
}

export function asLatex(record, values) {
  const relation = record.direction === "upper" ? "\\le" : "\\ge"; // the number is rounded away from the formula
  const number = record.formula.bound ? ` ${relation} ${power(shown(boundAt(record, values), record.direction))}` : "";
  return `% ${record.key} (${record.edition}) at ${argumentsOf(record, values, ", ")}\n${record.latex}${number}\n`;
}

const power = text => text.replace(/e(-?\d+)$/, " \\cdot 10^{$1}");
