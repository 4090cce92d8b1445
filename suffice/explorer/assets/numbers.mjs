// Numbers that are rounded outward, as in suffice/bounds/elementary.py: the derivations are there.

const NUDGE = 2 ** -46;
const TINY = 2 ** -1022;
const ULPS = 2048 * 2 ** -52;
export const FORGIVEN = 8 * 2 ** -52;

export function survive(x, n) {
  x *= 1 - NUDGE;
  return x <= 1 ? Math.max(Math.exp(n * Math.log1p(-x)), TINY) : Math.pow(1 - x, n);
}

export function fall(x, n) {
  if (!(x <= 1)) return 1 - Math.pow(1 - x, n);
  return n === 0 ? 0 : -Math.expm1(n * Math.log1p(-Math.min(x * (1 + NUDGE), 1)));
}

export const spare = (...terms) => 1 - terms.reduce((sum, term) => sum + term, 0) * (1 + 2 ** -49);
export const decay = x => Math.max(Math.exp(-x * (1 - 2 ** -50)), TINY);
export const log1p = Math.log1p;
export const last_over_mean = (n, x) => (1 + Math.expm1(x * Math.log(n)) / x) * (1 + 2 ** -45);
export const log_ratio = (x, y) => Math.log(Math.max((x / y) * (1 + 2 ** -50), 1));
export const up = x => x * (1 + 2 ** -49);
export const down = x => x * (1 - 2 ** -49);
export const difference = (x, y) => up(x) - down(y);
export const quotient = (x, y) => (x === 0 ? 0 : x / y);

export function times_log_ratio(a, x, y) {
  if (a === 0) return 0;
  const ratio = x / y;
  return a * (ratio === Infinity ? Math.log(x) - Math.log(y) : Math.log(ratio));
}

// What `evaluate` reports: 2048 units in the last place away from the truth.
export function outward(value, direction) {
  if (!Number.isFinite(value)) return value;
  if (direction === "lower" && value === 0) return 0;
  const sign = direction === "upper" ? 1 : -1;
  return value + sign * Math.max(Math.abs(value) * ULPS, Number.MIN_VALUE);
}

// `digits` significant digits, rounded away from the truth. What is within ten times the outward rounding of such a
// number is that number: a bound of 1/2 is shown as 0.5.
export function shown(value, direction = "upper", digits = 6) {
  if (value === Infinity) return "∞";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "not a number" : "−∞";
  if (Math.abs(value) <= Number.MIN_VALUE) return "0"; // 0 that was rounded outward
  const nearest = Number(value.toPrecision(digits));
  const slack = 10 * ULPS * Math.abs(value);
  const wrong = direction === "upper" ? nearest < value - slack : nearest > value + slack;
  if (!wrong) return plain(nearest);
  const roundingMode = direction === "upper" ? "ceil" : "floor";
  const outside = { maximumSignificantDigits: digits, roundingMode, useGrouping: false };
  return plain(Number(new Intl.NumberFormat("en-US", outside).format(value)));
}

// A number as people write it; the text reads back as the same number.
export function plain(value) {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential().replace("e+", "e") : String(value);
}
