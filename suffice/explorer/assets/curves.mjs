// What is drawn: the bounds along one parameter, and the exact values that are known along it.
import { brief, relation } from "./elements.mjs";
import { rangeOf } from "./slider.mjs";
import { allowed, boundAt, carried, departures, exactAt } from "./solve.mjs";

const SAMPLES = 160;

// The known exact value along the axis: of the erratum that is open, or of the record's own instance.
export function truthAt({ record, values, along, erratum }) {
  const own = record.truth;
  const told =
    erratum && erratum.key === record.key && erratum.edition === record.edition && Object.keys(erratum.at).length;
  const differs = at =>
    departures(at, values, along).map(name => `${name} = ${brief(values[name], 4)} here, ${brief(at[name], 4)} there`);
  const instance = told ? Object.fromEntries(erratum.inputs) : null;
  const marks = told
    ? [{ x: erratum.at[along], y: erratum.measured }]
    : own
      ? [{ x: own.at[along], y: own.value }]
      : [];
  const at = told ? erratum.at : own?.at;
  if (!at) return null;
  const sameInstance = own && departures(own.at, at, along).length === 0;
  const curve = sameInstance ? own.curves[along] : null;
  const far = differs(at);
  const x = values[along];
  const value = exactAt(curve, x) ?? exactAt([marks.map(mark => mark.x), marks.map(mark => mark.y)], x);
  const words = instance
    ? Object.entries(instance)
        .map(([name, text]) => `${name} = ${text}`)
        .join(", ")
    : own.words;
  return { value, far, marks, curve, words, at };
}

// The horizontal range: around the known exact values, or that of the slider.
function rangeAlong(parameter, x, found) {
  const known =
    found && !found.far.length
      ? [...(found.curve?.[0] ?? []), ...found.marks.map(mark => mark.x), x].filter(one => one > 0)
      : [];
  if (known.length > 1 && Math.max(...known) > Math.min(...known)) {
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const spare = Math.max((high / low) ** 0.05, 1.3);
    const within = one =>
      Math.min(Math.max(one, parameter.lower || (parameter.integer ? 1 : 0)), parameter.upper ?? Infinity);
    return [within(low / spare), within(high * spare)];
  }
  const [low, high] = rangeOf(parameter, x);
  return [Math.max(low, x > 0 ? x / 1000 : low), Math.min(high, Math.max(x, low) * 1000)];
}

function samples(parameter, [low, high]) {
  const at = Array.from({ length: SAMPLES }, (_, k) => low * (high / low) ** (k / (SAMPLES - 1)));
  return parameter.integer ? [...new Set(at.map(Math.round))].filter(x => x >= low && x <= high) : at;
}

// The bounds of all editions and the exact values, as lines of the plot.
export function linesOf(state, editions) {
  const { record, values, along } = state;
  const parameter = record.parameters.find(({ name }) => name === along);
  const found = truthAt(state);
  const range = rangeAlong(parameter, values[along], found);
  const xs = samples(parameter, range);
  const curves = editions
    .filter(one => one.formula.bound)
    .map(one => {
      const given = carried(one, values, one.at);
      const points = xs.map(x => {
        const there = { ...given, [along]: x };
        return [x, boundAt(one, there), allowed(one, there)];
      });
      return { name: `${one.edition}: ${relation(one)} bound of ${one.quantity}`, look: one.edition, points };
    });
  const dots =
    found &&
    (found.curve ? found.curve[0].map((x, k) => [x, found.curve[1][k]]) : found.marks.map(mark => [mark.x, mark.y]));
  const shownDots = dots ? dots.filter(([x]) => x >= range[0] && x <= range[1]) : [];
  const exact = shownDots.length
    ? [{ name: `exact: ${record.quantity}`, look: "exact", points: shownDots, dots: true, faded: found.far.length > 0 }]
    : [];
  return { curves, exact, range, found, parameter };
}
