// A slider and a field for one parameter; the field says what is allowed.
import { brief, make, math, rich, unitOf } from "./elements.mjs";
import { refusal } from "./solve.mjs";

// The range of a slider: two decades around what is typical, and the value at hand.
export function rangeOf(parameter, value) {
  const [low, high] = parameter.typical;
  const least = Math.max(low / 100, parameter.lower > 0 ? parameter.lower : 0, parameter.integer ? 1 : 0);
  const most = Math.min(high * 100, parameter.upper ?? Infinity);
  return [value > 0 ? Math.min(least, value) : least, Math.max(most, value)];
}

const STEPS = 1000;
const toPlace = ([low, high], x) => (x <= 0 ? 0 : 1 + ((STEPS - 1) * Math.log(x / low)) / Math.log(high / low || 2));

function fromPlace(parameter, [low, high], place) {
  if (place < 1 && parameter.lower === 0 && !parameter.open) return 0;
  const x = low * (high / low) ** (Math.max(place - 1, 0) / (STEPS - 1));
  if (parameter.integer) return Math.round(x);
  const short = Number(x.toPrecision(3));
  return refusal(parameter, short) ? x : short;
}

// `set` is told a new value; the box shows the one that `put` is given.
export function slider(parameter, start, set) {
  const plain = { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false };
  const field = make("input", { ...plain, ariaLabel: parameter.name });
  const ariaLabel = `${parameter.name} on a logarithmic scale`;
  const range = make("input", { type: "range", min: 0, max: STEPS, step: "any", ariaLabel });
  const error = make("p", { className: "refused", hidden: true, role: "alert" });
  const limits = rangeOf(parameter, start);
  let now = start;
  let before = start; // what Escape brings back
  let dragged = false;
  range.oninput = () => {
    dragged = true; // its handle is where the hand is, between whole numbers too
    set(fromPlace(parameter, limits, Number(range.value)));
    dragged = false;
  };
  range.onkeydown = event => {
    const sign = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!sign) return;
    event.preventDefault(); // by 8 %, whole numbers by one
    const moved = (now || parameter.typical[0]) * 1.08 ** sign;
    const next = parameter.integer ? now + sign : Number(moved.toPrecision(3));
    if (!refusal(parameter, next)) set(next);
  };
  const complain = why => {
    error.textContent = why;
    error.hidden = !why;
    field.ariaInvalid = String(Boolean(why));
  };
  field.oninput = () => {
    const why = refusal(parameter, field.value);
    complain(why);
    if (!why) set(Number(field.value));
  };
  field.onblur = () => set(now);
  field.onfocus = () => (before = now);
  field.onkeydown = event => {
    if (event.key === "Escape") set(before);
    if (event.key === "Enter" || event.key === "Escape") field.blur();
  };
  const box = make(
    "div",
    { className: "slider" },
    make("label", {}, math(parameter.symbol), " ", make("code", {}, parameter.name), " ", field),
    range,
    make("p", { className: "small" }, rich(parameter.meaning), unitOf(parameter)),
    error,
  );
  const put = value => {
    now = value;
    if (!dragged) range.value = toPlace(limits, value);
    if (document.activeElement === field) return;
    field.value = brief(value, 9);
    field.title = String(value);
    complain("");
  };
  return { parameter, box, put };
}
