// Elements of the page, and numbers and relations in words.
import { plain, shown } from "./numbers.mjs";

// An element with properties and children; texts stay texts.
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export const button = (onclick, className, ...children) =>
  make("button", { type: "button", onclick, className }, ...children);
export const math = html => make("span", { innerHTML: html }); // written by Python, escaped there
export const relation = record => (record.direction === "upper" ? "≤" : "≥");
export const unitOf = ({ unit }) => (unit === "none" ? "" : ` [${unit}]`);
export const brief = (value, digits = 6) =>
  Number.isFinite(value) ? plain(Number(value.toPrecision(digits))) : shown(value);
// Three digits, and as many more as it takes that what is not 1 does not read 1: `ratio_text` in support/tables.py.
export function times(ratio, digits = 3) {
  if (Number(ratio.toPrecision(digits)) === 1 && Math.abs(ratio - 1) > 1e-9) return times(ratio, digits + 1);
  return ratio >= 1e6 ? ratio.toExponential(1) : ratio >= 1000 ? ratio.toFixed(0) : ratio.toPrecision(digits);
}
