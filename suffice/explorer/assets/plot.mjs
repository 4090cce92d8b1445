// One frame with curves, points and two axes, each logarithmic (where all is positive) or linear, as SVG.
import { plain } from "./numbers.mjs";

const SPACE = { left: 74, right: 28, top: 12, bottom: 44 };
const SVG = "http://www.w3.org/2000/svg";

function draw(parent, name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

// A scale from [low, high] to [from, to], with the ticks that it has.
export function scale([low, high], [from, to], log) {
  const put = log ? Math.log10 : x => x;
  const span = put(high) - put(low) || 1;
  const back = pixel => put(low) + ((pixel - from) / (to - from)) * span;
  return {
    at: x => from + ((put(x) - put(low)) / span) * (to - from),
    back: pixel => (log ? 10 ** back(pixel) : back(pixel)),
    ticks: log ? decades(low, high) : steps(low, high),
  };
}

const whole = (first, last, every = 1) =>
  Array.from({ length: Math.max(Math.floor((last - first) / every) + 1, 0) }, (_, k) => first + k * every);

function decades(low, high) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const powers = whole(first, last, Math.max(Math.ceil((last - first + 1) / 7), 1));
  if (powers.length > 2) return powers.map(power => Number(`1e${power}`));
  const finer = whole(first - 1, last).flatMap(power => [1, 2, 5].map(k => Number(`${k}e${power}`)));
  const inside = finer.filter(x => x >= low && x <= high);
  return inside.length > 1 ? inside : steps(low, high);
}

function steps(low, high) {
  const rough = (high - low) / 5 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(k => k * unit >= rough) * unit;
  const last = Math.floor((high * (1 + 1e-12)) / step);
  return whole(Math.ceil(low / step), last).map(k => Number((k * step).toPrecision(12)));
}

// The least frame around numbers: on a logarithmic axis twelve decades at most below the largest.
export function frame(numbers, linear = false) {
  const finite = numbers.filter(Number.isFinite);
  const log = !linear && finite.length > 0 && finite.every(x => x >= 0) && finite.some(x => x > 0);
  const high = Math.max(...finite);
  if (!log) {
    const low = Math.min(...finite);
    const spare = Math.max((high - low) * 0.06, Math.abs(high) * 0.01) || 0.06; // what is flat has short ticks
    return { range: [low - spare, high + spare], log };
  }
  const low = Math.max(Math.min(...finite.filter(x => x > 0)), high * 1e-12);
  const spare = Math.max((high / low) ** 0.06, 1.25);
  return { range: [Math.max(low / spare, Number.MIN_VALUE), high * spare], log };
}

// The points that an axis is made for: those where conditions hold, or else those up to a million times the least.
export function within(points) {
  const met = points.filter(point => point[2] !== false);
  const least = Math.min(...points.map(point => Math.abs(point[1])).filter(Boolean));
  return met.length ? met : points.filter(point => !(Math.abs(point[1]) > 1e6 * least));
}

// `lines`: {points, look, faded, aside, dots}; `marks`: {x, y, look, words}; `paths`: {points, look, ends}, behind all;
// `level`: a height with a name; `here`: the value on the horizontal axis. Returns what stands at a pixel, and
// whether the vertical axis is logarithmic.
export function plot(svg, { lines, marks, paths, level, xRange, xLog, yLinear, xNames, here }) {
  const width = Math.max(svg.clientWidth || 640, 260);
  const height = Math.min(Math.max(width * 0.55, 240), 400);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  const near = lines.filter(({ faded, aside }) => !faded && !aside); // what is faded is of another instance, anywhere,
  const framed = within(near.flatMap(({ points }) => points)); // as may be a bound beyond its conditions
  const heights = paths.flatMap(({ points }) => points.map(point => point[1]));
  const seen = yLinear ? [] : heights.filter(value => value >= level.y / 10);
  const y = frame([...framed.map(point => point[1]), ...marks.map(mark => mark.y), ...seen], yLinear);
  if (!y.range.every(Number.isFinite)) return { at: () => NaN, back: () => NaN, yLog: false };
  const [right, bottom] = [width - SPACE.right, height - SPACE.bottom];
  const across = scale(xRange, [SPACE.left, right], xLog);
  const upward = scale(y.range, [bottom, SPACE.top], y.log);
  const line = (look, x1, x2, y1, y2) => draw(svg, "line", { class: look, x1, x2, y1, y2 });
  const label = (look, x, y, anchor, text) => draw(svg, "text", { class: look, x, y, "text-anchor": anchor }, text);
  for (const x of across.ticks) {
    line("grid", across.at(x), across.at(x), SPACE.top, bottom);
    label("tick", across.at(x), bottom + 16, "middle", plain(x));
  }
  for (const value of upward.ticks) {
    line("grid", SPACE.left, right, upward.at(value), upward.at(value));
    label("tick", SPACE.left - 6, upward.at(value) + 4, "end", plain(value));
  }
  const room = right - SPACE.left;
  const name = xNames.find(text => text.length * 6.5 <= room) ?? xNames.at(-1); // a letter's width
  label("name", (SPACE.left + right) / 2, height - 8, "middle", name);
  const box = { x: SPACE.left, y: SPACE.top, width: room, height: bottom - SPACE.top };
  const inner = draw(svg, "svg", { ...box, viewBox: Object.values(box).join(" ") }); // cuts what leaves the frame
  const place = ([a, b]) => [across.at(a), upward.at(y.log ? Math.max(b, Number.MIN_VALUE) : b)];
  const joined = points => points.map(point => place(point).map(pixel => pixel.toFixed(1)).join(",")).join(" ");
  for (const { points, look, ends } of paths.filter(path => path.points.length)) {
    draw(inner, "polyline", { class: look, points: joined(points) });
    const [cx, cy] = place(points.at(-1));
    if (ends) draw(inner, "circle", { class: "stop", cx, cy: Math.min(cy, bottom - 3), r: 2.5 });
  }
  if (paths.length && level.y >= y.range[0] && level.y <= y.range[1]) {
    line("level", SPACE.left, right, upward.at(level.y), upward.at(level.y));
    label("tick", right + 6, upward.at(level.y) + 4, "start", level.name);
  }
  if (here >= xRange[0] && here <= xRange[1]) line("here", across.at(here), across.at(here), SPACE.top, bottom);
  const visible = ([, value]) => value >= y.range[0] && value <= y.range[1];
  for (const { points, look, faded, dots } of lines) {
    const style = `curve ${look}${faded ? " faded" : ""}`;
    for (const piece of pieces(points, visible)) {
      const kind = piece[0][2] === false ? `${style} beyond` : style;
      draw(svg, "polyline", { class: kind, points: joined(piece) });
    }
    for (const [a, b] of dots ? points.filter(visible) : []) {
      draw(svg, "circle", { class: style, cx: across.at(a), cy: upward.at(b), r: 3.5 });
    }
  }
  for (const { x, y: value, look, words } of marks.filter(mark => visible([mark.x, mark.y]))) {
    const [a, b] = [across.at(x), upward.at(value)];
    draw(svg, "circle", { class: `mark ${look}`, cx: a, cy: b, r: 6 });
    if (words && a > width / 2) label("words", a - 10, b + 4, "end", words);
    else if (words) label("words", a + 10, b + 4, "start", words);
  }
  return { ...across, yLog: y.log };
}

// The runs of visible points on which the conditions hold, or fail; neighbouring runs share a point.
function pieces(points, visible) {
  const found = [[]];
  for (const point of points) {
    const run = found.at(-1);
    if (!visible(point)) found.push([]);
    else if (run.push(point) > 1 && run[0][2] !== point[2]) found.push([point]);
  }
  return found.filter(run => run.length > 1);
}
