// Simulated paths of client 0 on the counterexample to Theorem 2, which show what 1{tau >= T} leaves out.
import { departures } from "./solve.mjs";

const COUNT = 30;

// Normal numbers, the same at every opening: mulberry32 and the method of Box and Muller.
export function normals(seed) {
  const uniform = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

// The next model, by Definition 1 with binary weights and equal noise: peers whose similarity 1 - (gap/theta)^2 is
// below the threshold, which is so near the optimum, have no weight, and average no noise away.
export function next(rule, theta, z) {
  const similarity = 1 - (rule.gap / theta) ** 2;
  const peers = similarity >= rule.threshold ? rule.peers : 0;
  const step = rule.eta / (1 + (peers && peers * similarity));
  const gradients = 2 * rule.h * (theta + peers * (theta - rule.gap));
  return theta - step * (gradients - Math.sqrt(1 + peers) * rule.sigma * z);
}

// The points [t, e_t] of a path; `stop` is tau, the first t with e_t < eps, or beyond the last.
export function pathOf(rule, normal) {
  let theta = rule.theta;
  const points = [[0, rule.h * theta ** 2]];
  for (let t = 1; t <= rule.steps; t++) {
    theta = next(rule, theta, normal());
    points.push([t, rule.h * theta ** 2]);
  }
  const stop = points.findIndex(([, excess]) => excess < rule.eps);
  return { points, stop: stop < 0 ? rule.steps + 1 : stop };
}

// The lines of the plot, where the sliders stand at the counterexample: what runs, and, of the mean of all, the rest.
export function pathLines({ record, values, along }, rule) {
  if (record.key !== rule?.key || along !== rule.along || departures(rule.at, values, along).length) return [];
  const normal = normals(1);
  return Array.from({ length: COUNT }, () => pathOf(rule, normal)).flatMap(({ points, stop }) => [
    { look: "path", points: points.slice(0, stop + 1), ends: stop <= rule.steps },
    ...(record.edition === "printed" ? [{ look: "path gone", points: points.slice(stop) }] : []),
  ]);
}
