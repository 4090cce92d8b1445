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
const typeset = {};
export const learn = texts => Object.assign(typeset, texts);
// A text with its mathematics, where the documentation typesets it.
export const rich = text => (Object.hasOwn(typeset, text) ? math(typeset[text]) : text);
export const listed = (texts, between) => texts.flatMap(text => [between, rich(text)]).slice(1);
// Two digits from 2 on; else four, and as many more as it takes that what is not 1 does not read 1: `times_text` and
// `ratio_text` in support/tables.py.
export function times(ratio, digits = 4) {
  if (ratio >= 2) {
    const two = Number(Number(ratio.toPrecision(6)).toPrecision(2));
    return two < 1e7 ? two.toLocaleString("en-US") : two.toExponential().replace("e+", "e");
  }
  const short = Number(ratio.toPrecision(digits));
  return short === 1 && Math.abs(ratio - 1) > 1e-9 ? times(ratio, digits + 1) : String(short);
}
