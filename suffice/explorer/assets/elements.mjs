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
export const times = ratio =>
  ratio >= 1e6 ? ratio.toExponential(1) : ratio >= 1000 ? ratio.toFixed(0) : ratio.toPrecision(3);
