// A record at values of its parameters: the bound, its conditions, and what would satisfy a condition that fails.
import { FORGIVEN, outward } from "./numbers.mjs";

const LARGEST = 1e60;
const LEAST = 1e-60;

// Why a text is no value of a parameter; "" where it is one.
export function refusal(parameter, text) {
  const value = typeof text === "number" ? text : text.trim() === "" ? NaN : Number(text);
  const low = parameter.open ? value <= parameter.lower : value < parameter.lower;
  const extreme = Math.abs(value) > LARGEST || (parameter.open && value > 0 && value < LEAST);
  const whole = !parameter.integer || Number.isInteger(value);
  const high = parameter.upper !== null && value > parameter.upper;
  return Number.isFinite(value) && !low && !high && !extreme && whole ? "" : parameter.remedy;
}

export const boundAt = (record, values) => outward(record.formula.bound(values), record.direction);

// What is claimed: a probability is at most 1, whatever a formula gives.
export const claimed = (record, values) => Math.min(boundAt(record, values), record.most ?? Infinity);

export const holds = ([left, right]) => left <= right + FORGIVEN * Math.abs(right);

export function sidesAt(record, values) {
  return record.formula.conditions.map(([left, right]) => [left(values), right(values)]);
}

// The names of the conditions that fail.
export function failing(record, values) {
  const sides = sidesAt(record, values);
  return record.conditions.filter((_, index) => !holds(sides[index]));
}

export const allowed = (record, values) => !failing(record, values).length;

// The changes of one number that satisfy the condition `index`, those that leave most other conditions satisfied first.
export function remedies(record, index, values) {
  const [left, right] = record.formula.conditions[index];
  const named = parameter => [left, right].some(side => new RegExp(`\\bv\\.${parameter.name}\\b`).test(side));
  const found = [];
  for (const parameter of record.parameters.filter(named)) {
    const meets = x => {
      const changed = { ...values, [parameter.name]: x };
      return holds([left(changed), right(changed)]);
    };
    const value = nearest(parameter, values[parameter.name], meets);
    if (value === null) continue;
    found.push({ name: parameter.name, value, left: failing(record, { ...values, [parameter.name]: value }).length });
  }
  return found.sort((one, other) => one.left - other.left).slice(0, 3);
}

// The value of a parameter nearest to `from` that `meets`, six digits on the side that does; null where none is found.
function nearest(parameter, from, meets) {
  const start = from > 0 ? from : parameter.typical[0];
  const within = x => refusal(parameter, x) === "";
  const fit = x => (parameter.integer ? Math.round(x) : x);
  for (let step = 1; step <= 640; step++) {
    for (const sign of [-1, 1]) {
      const x = fit(start * 10 ** ((sign * step) / 20));
      if (within(x) && meets(x)) return boundary(parameter, start * 10 ** ((sign * (step - 1)) / 20), x, meets);
    }
  }
  for (const x of [parameter.upper, parameter.lower]) if (x !== null && within(x) && meets(x)) return x;
  return null;
}

function boundary(parameter, outside, inside, meets) {
  for (let round = 0; round < 80; round++) {
    const middle = parameter.integer ? Math.round((outside + inside) / 2) : Math.sqrt(outside * inside);
    if (middle === outside || middle === inside) break;
    if (meets(middle)) inside = middle;
    else outside = middle;
  }
  if (parameter.integer) return inside;
  const direction = inside > outside ? 1 : -1;
  const unit = 10 ** (Math.floor(Math.log10(inside)) - 5);
  for (const turns of [0, 1, 2]) {
    const short = Number(((Math.round(inside / unit) + direction * turns) * unit).toPrecision(6));
    if (meets(short) && refusal(parameter, short) === "") return short;
  }
  return inside;
}

// Values for another record: shared ones stay, others are on the careful side where the record knows which that is.
export function carried(record, values, given) {
  const pairs = record.parameters.map(parameter => {
    const { name } = parameter;
    const kept = name in values && refusal(parameter, values[name]) === "";
    return [name, kept ? values[name] : given && name in given ? given[name] : parameter.careful];
  });
  return Object.fromEntries(pairs);
}

// Which arguments of an instance differ from the values, `except` one.
export function departures(at, values, except) {
  const differs = name => Math.abs(values[name] - at[name]) > 1e-9 * Math.abs(at[name]);
  return Object.keys(at).filter(name => name !== except && name in values && differs(name));
}

// The exact value of a curve at x; null between its points.
export function exactAt(curve, x) {
  if (!curve) return null;
  const index = curve[0].findIndex(point => Math.abs(point - x) <= 1e-9 * Math.abs(x));
  return index < 0 ? null : curve[1][index];
}
