// What is drawn: the bounds along one parameter, and the exact values that are known along it.
import { brief, relation } from "./elements.mjs";
import { rangeOf } from "./slider.mjs";
import { allowed, carried, claimed, departures, exactAt } from "./solve.mjs";

const SAMPLES = 160;

// The exact values along the axis: of the erratum that is open, or of the instance nearest to the sliders.
export function truthAt({ record, values, along, erratum }) {
  const told = erratum?.key === record.key && erratum.edition === record.edition && Object.keys(erratum.at).length;
  const own = told ? record.instances.find(one => !departures(one.at, erratum.at, along).length) : null;
  const words = told ? erratum.given : [];
  const instances = told
    ? [{ at: erratum.at, value: erratum.measured, words, curves: own?.curves ?? {} }]
    : record.instances;
  const away = one => departures(one.at, values, along);
  const near = instances.reduce((best, one) => (away(one).length < away(best).length ? one : best), instances[0]);
  if (!near) return null;
  const point = [[near.at[along]], [near.value]];
  const curve = near.curves[along] ?? point;
  const value = exactAt(point, values[along]) ?? exactAt(curve, values[along]);
  const far = away(near).map(name => `${name} = ${brief(values[name], 4)} here, ${brief(near.at[name], 4)} there`);
  return { words: [near.words].flat(), at: near.at, curve, value, far };
}

// The values at which another edition is about the instance where the sliders stand; null where they stand at none.
export function sameInstance({ record, values, along }, other) {
  const [here, there] = [record, other].map(one => one.instances[one.edition === "printed" ? 0 : 1]);
  if (record === other || !here || !there || departures(here.at, values, along).length) return null;
  return along in values && along in there.at ? { ...there.at, [along]: values[along] } : there.at;
}

// The horizontal range: around the known exact values, or that of the slider.
function rangeAlong(parameter, x, found) {
  const known = found && !found.far.length ? [...found.curve[0], x].filter(one => one > 0) : [];
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (most > least) {
    const spare = Math.max((most / least) ** 0.05, 1.3);
    const lowest = parameter.lower || (parameter.integer ? 1 : 0);
    return [Math.max(least / spare, lowest), Math.min(most * spare, parameter.upper ?? Infinity)];
  }
  const [low, high] = rangeOf(parameter, x);
  return [Math.max(low, x > 0 ? x / 1000 : low), Math.min(high, Math.max(x, low) * 1000)];
}

function samples(parameter, [low, high], log) {
  const at = Array.from({ length: SAMPLES }, (_, k) => k / (SAMPLES - 1)).map(part =>
    log ? low * (high / low) ** part : Math.max(low + part * (high - low), parameter.lower),
  );
  return parameter.integer ? [...new Set(at.map(Math.round))].filter(x => x >= low && x <= high) : at;
}

// The exact values at hand, and, on the same instance, those of what another edition bounds.
function exactLines(state, editions, found, range) {
  const line = (one, { curve, far }, look) => ({
    ...named("exact", one, `exact: ${one.quantity}`),
    look,
    points: curve[0].map((x, k) => [x, curve[1][k]]).filter(([x]) => x >= range[0] && x <= range[1]),
    dots: true,
    faded: far.length > 0,
    aside: one !== state.record,
  });
  const others = editions.flatMap(one => {
    const values = one.quantity !== state.record.quantity && sameInstance(state, one);
    const there = values && truthAt({ record: one, values, along: state.along });
    return there && !there.far.length ? [line(one, there, `exact ${one.edition}`)] : [];
  });
  return [...others, ...(found ? [line(state.record, found, "exact")] : [])].filter(({ points }) => points.length);
}

// Simulated paths, where the sliders stand at the counterexample to Theorem 2: each to tau, the first t with e_t < eps,
// and what 1{tau >= T} leaves out of the mean of all.
export function pathLines({ record, values, along }, kept) {
  if (record.key !== kept.key || along !== kept.along || departures(kept.at, values, along).length) return [];
  return kept.excess.flatMap(path => {
    const stop = path.findIndex(excess => excess < kept.eps);
    const [points, end] = [[...path.entries()], stop < 0 ? path.length : stop];
    const rest = { look: "path gone", points: points.slice(end) };
    const running = { look: "path", points: points.slice(0, end + 1), ends: stop >= 0 };
    return record.edition === "printed" ? [running, rest] : [running];
  });
}

// A line's name for files and for ears, and for eyes its words before the quantity.
const named = (words, { quantityMath }, name) => ({ name, words, quantityMath });

// The bounds of all editions, the exact values and simulated paths, as lines of the plot; `log`: whether the horizontal
// axis is asked to be logarithmic, null where nothing is asked.
export function linesOf(state, editions, kept, log) {
  const { record, values, along } = state;
  const parameter = record.parameters.find(({ name }) => name === along);
  const found = truthAt(state);
  const paths = pathLines(state, kept);
  let range = state.held ?? rangeAlong(parameter, values[along], found);
  const xLog = range[0] > 0 && (log ?? !(parameter.integer && range[1] < 30));
  if (paths.length && !xLog) range = [0, Math.max(values[along], kept.excess[0].length - 1) + 0.4];
  if (xLog) for (const path of paths) path.points = path.points.filter(([t]) => t > 0);
  const xs = samples(parameter, range, xLog);
  const curves = editions
    .filter(one => one.formula.bound && one.parameters.every(({ name }) => name in values)) // nothing is made up
    .map(one => {
      const given = carried(one, values, one.at);
      const points = xs.map(x => {
        const there = { ...given, [along]: x };
        return [x, claimed(one, there), allowed(one, there)];
      });
      const name = `${one.edition}: ${relation(one)} bound of ${one.quantity}`;
      return { ...named(`${one.edition}: ${relation(one)} bound of`, one, name), look: one.edition, points };
    });
  return { curves, exact: exactLines(state, editions, found, range), paths, range, xLog, found, parameter };
}
