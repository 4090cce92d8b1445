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

// Whether an exact value is beyond a bound.
export const breaks = (value, bound, direction) =>
  (direction === "upper" ? value - bound : bound - value) > 1e-9 * Math.abs(bound);

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
  const index = curve[0].findIndex(point => Math.abs(point - x) <= 1e-9 * Math.abs(x));
  return index < 0 ? null : curve[1][index];
}
