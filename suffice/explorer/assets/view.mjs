// One record: its statement, value, conditions, sliders, plot, what holds instead, and what people take away.
import { asCommand, asCsv, asLatex, asPython } from "./copies.mjs";
import { linkOf } from "./link.mjs";
import { plain, shown } from "./numbers.mjs";
import { plot } from "./plot.mjs";
import { allowed, boundAt, carried, departures, exactAt, holds, refusal, remedies, sidesAt } from "./solve.mjs";
import { make } from "./tree.mjs";

const SAMPLES = 160;
const math = (html) => make("span", { innerHTML: html }); // written by Python, escaped there
const relation = (record) => (record.direction === "upper" ? "≤" : "≥");
const unitOf = ({ unit }) => (unit === "none" ? "" : ` [${unit}]`);
const brief = (value, digits = 6) => plain(Number(value.toPrecision(digits)));
const times = (ratio) => (ratio >= 1e6 ? ratio.toExponential(1) : ratio >= 1000 ? ratio.toFixed(0) : ratio.toPrecision(3));

// The range of a slider: two decades around what is typical, and the value at hand.
function rangeOf(parameter, value) {
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

export class View {
  constructor(root, data, { open, changed }) {
    Object.assign(this, { root, data, open, changed });
    new ResizeObserver(() => this.state && this.draw()).observe(root);
  }

  editions(record) {
    return this.data.records.filter((one) => one.key === record.key);
  }

  show(state) {
    this.state = state;
    const { record, erratum } = state;
    this.root.replaceChildren(this.head(record));
    if (erratum) this.root.append(this.erratumBox(erratum));
    if (record) this.root.append(...this.parts(record));
    this.update();
  }

  head(record) {
    if (!record) return make("h2", {}, this.state.erratum.location);
    const tabs = this.editions(record).map((one) => {
      const chosen = one === record;
      const button = make("button", { type: "button", onclick: () => this.turn(one) }, one.edition);
      button.setAttribute("aria-pressed", String(chosen));
      return button;
    });
    const badge = make("span", { className: `badge ${record.verdict.replaceAll(" ", "-")}` }, record.verdict);
    const facts = [["Fault", record.fault], ["Hypotheses", record.hypotheses], ["Tight", record.tight]];
    if (record.superseded) facts.push(["Superseded by", record.superseded]);
    const list = make("dl", {});
    for (const [name, value] of facts.filter(([, value]) => value)) {
      list.append(make("dt", {}, name), make("dd", { className: name.toLowerCase() }, value));
    }
    return make(
      "section", { className: "head" },
      make("h2", {}, record.title, " ", badge),
      make("p", { className: "place" }, `${record.place} · `, make("code", {}, record.key), " ", make("span", { className: "tabs" }, ...tabs)),
      make("p", {}, record.statement),
      make("div", { className: "formula" }, record.math ? math(record.math) : `No number: ${record.reason}`),
      list,
      make("p", { className: "small" }, record.verdictWords),
    );
  }

  // The other edition at the same values.
  turn(record) {
    this.open({ record, values: { ...record.at, ...this.shared(record) }, along: this.state.along, erratum: this.state.erratum });
  }

  shared(record) {
    const kept = record.parameters.filter(({ name }) => name in this.state.values);
    return Object.fromEntries(kept.map(({ name }) => [name, this.state.values[name]]));
  }

  erratumBox(entry) {
    const inputs = entry.inputs.map(([name, value]) => `${name} = ${value}`).join("; ");
    const ratio = entry.printed * entry.measured > 0 ? ` (true over printed: ${times(entry.measured / entry.printed)})` : "";
    const numbers = make("p", { className: "numbers" }, "printed ", make("b", {}, shown(entry.printed)), ", true ",
      make("b", {}, shown(entry.measured)), ratio);
    Object.assign(numbers.dataset, { erratum: entry.id, printed: entry.printed, measured: entry.measured });
    const next = [];
    const instead = this.data.records.find((one) => one.key === entry.correct && one.edition === "corrected");
    if (instead && instead !== this.state.record) {
      next.push(make("button", { type: "button", onclick: () => this.turn(instead) }, `Corrected statement: ${instead.key}`));
    }
    return make(
      "section", { className: `erratum ${entry.kind === "loose" ? "loose" : ""}` },
      make("h3", {}, `${entry.location}: ${entry.kind === "loose" ? "true, but" : entry.kind}`),
      make("p", {}, make("b", {}, "In print: "), entry.claim),
      make("p", {}, make("b", {}, "What holds: "), entry.truth),
      make("p", {}, make("b", {}, "Counterexample: "), inputs), numbers, ...next,
      make("p", { className: "small" }, entry.at && Object.keys(entry.at).length
        ? "The sliders stand at it." : "It is about no number that sliders could set."),
    );
  }

  parts(record) {
    this.value = make("p", { className: "value" });
    this.verdict = make("p", { className: "truth" });
    this.limits = make("ul", { className: "conditions" });
    const about = this.data.errata.filter((entry) => entry.correct === record.key);
    const errata = about.map((erratum) =>
      make("button", { type: "button", className: "counter", onclick: () => this.open({ erratum }) },
        `${erratum.location}: ${erratum.truth}`));
    const wrong = errata.length ? [make("section", {}, make("h3", {}, "What is wrong in print, with counterexamples"), ...errata)] : [];
    const instead = make("section", {}, (this.instead = make("div", {})));
    if (!record.parameters.length || !record.formula.bound) {
      this.sliders = null;
      const why = record.reason ? "" : "This bound takes a special function: the library evaluates it, this page does not.";
      return [make("p", { className: "notice" }, why || `It cannot be evaluated: ${record.reason}`), ...wrong, instead];
    }
    this.sliders = record.parameters.map((parameter) => this.slider(parameter));
    this.choice = make("select", { onchange: () => this.along(this.choice.value) });
    for (const { name, letters } of record.parameters) this.choice.append(make("option", { value: name }, `${name} (${letters})`));
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("role", "img");
    this.legend = make("ul", { className: "legend" });
    this.note = make("p", { className: "small" });
    return [
      make("section", { className: "now" }, this.value, this.verdict),
      make("div", { className: "columns" },
        make("section", {}, make("h3", {}, "Move"), ...this.sliders.map((one) => one.box)),
        make("section", {}, make("h3", {}, "Conditions"), this.limits,
          make("h3", {}, "Plot against ", this.choice), this.svg, this.legend, this.note)),
      ...wrong, instead, this.takeaway(),
    ];
  }

  slider(parameter) {
    const field = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });
    const range = make("input", { type: "range", min: 0, max: STEPS, step: "any" });
    const error = make("p", { className: "refused", hidden: true });
    error.setAttribute("role", "alert");
    field.setAttribute("aria-label", parameter.name);
    range.setAttribute("aria-label", `${parameter.name} on a logarithmic scale`);
    const limits = rangeOf(parameter, this.state.values[parameter.name]);
    range.oninput = () => this.set(parameter.name, fromPlace(parameter, limits, Number(range.value)));
    range.onkeydown = (event) => this.nudge(event, parameter);
    field.oninput = () => {
      const why = refusal(parameter, field.value);
      error.textContent = why;
      error.hidden = !why;
      field.setAttribute("aria-invalid", String(Boolean(why)));
      if (!why) this.set(parameter.name, Number(field.value));
    };
    field.onblur = () => this.update();
    field.onkeydown = (event) => event.key === "Enter" && field.blur();
    const box = make("div", { className: "slider" },
      make("label", {}, math(parameter.symbol), " ", make("code", {}, parameter.name), " ", field), range,
      make("p", { className: "small" }, parameter.meaning + unitOf(parameter)), error);
    const put = (value) => {
      if (document.activeElement !== range || toPlace(limits, value) === 0) range.value = toPlace(limits, value);
      if (document.activeElement === field) return;
      field.value = brief(value, 9);
      field.title = String(value);
      error.hidden = true;
      field.setAttribute("aria-invalid", "false");
    };
    return { parameter, box, put };
  }

  // Arrow keys move by 8 %, whole numbers by one.
  nudge(event, parameter) {
    const sign = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!sign) return;
    event.preventDefault();
    const now = this.state.values[parameter.name];
    const next = parameter.integer ? now + sign : Number(((now || parameter.typical[0]) * 1.08 ** sign).toPrecision(3));
    if (!refusal(parameter, next)) this.set(parameter.name, next);
  }

  set(name, value) {
    this.state.values = { ...this.state.values, [name]: value };
    this.update();
  }

  along(name) {
    this.state.along = name;
    this.update();
  }

  update() {
    const { record, values } = this.state;
    if (record && this.sliders) {
      for (const one of this.sliders) one.put(values[one.parameter.name]);
      this.choice.value = this.state.along;
      this.conditions(record, values);
      this.says(record, values);
      this.draw();
    }
    if (record) this.alternatives(record, values);
    this.changed(this.state);
  }

  says(record, values) {
    const number = boundAt(record, values);
    this.value.replaceChildren(math(record.quantityMath), ` ${relation(record)} `, make("b", {}, shown(number, record.direction)));
    this.value.title = `${record.quantity} ${relation(record)} ${number}`;
    this.value.dataset.bound = number;
    this.verdict.replaceChildren(...this.beside(record, number));
  }

  // The exact value at hand, or why there is none.
  beside(record, bound) {
    const found = this.truthHere();
    if (!found) return ["No exact value is known here."];
    if (found.far.length) return [make("span", { className: "faded" }, `The exact value is of another instance: ${found.far.join("; ")}.`)];
    if (found.value === null) return ["The exact value is known at the dots of the curve."];
    const ratio = record.direction === "upper" ? found.value / bound : bound / found.value;
    const broken = ratio > 1 + 1e-9 || (bound <= 0 && found.value > bound && record.direction === "upper");
    const size = found.value > 0 && bound > 0 ? `${times(ratio)} times` : "not";
    const word = broken
      ? ` The ${record.edition} bound is broken: the truth is ${size} what is ${record.direction === "upper" ? "allowed" : "promised"}.`
      : ` The bound holds; ${record.direction === "upper" ? "exact/bound" : "bound/exact"} is ${found.value ? ratio.toPrecision(3) : "0"}.`;
    this.verdict.dataset.ratio = ratio;
    return ["Exactly ", make("b", {}, shown(found.value)), ":", make("span", { className: broken ? "broken" : "kept" }, word)];
  }

  // The known exact value along the axis: of the erratum that is open, or of the record's own instance.
  truthHere() {
    const { record, values, along, erratum } = this.state;
    const own = record.truth;
    const told = erratum && erratum.key === record.key && erratum.edition === record.edition && Object.keys(erratum.at).length;
    const differs = (at) => departures(at, values, along).map((name) => `${name} = ${brief(values[name], 4)} here, ${brief(at[name], 4)} there`);
    const instance = told ? Object.fromEntries(erratum.inputs) : null;
    const marks = told ? [{ x: erratum.at[along], y: erratum.measured }] : own ? [{ x: own.at[along], y: own.value }] : [];
    const at = told ? erratum.at : own?.at;
    if (!at) return null;
    const sameInstance = own && departures(own.at, at, along).length === 0;
    const curve = sameInstance ? own.curves[along] : null;
    const far = differs(at);
    const x = values[along];
    const value = exactAt(curve, x) ?? exactAt([marks.map((mark) => mark.x), marks.map((mark) => mark.y)], x);
    const words = instance ? Object.entries(instance).map(([name, text]) => `${name} = ${text}`).join(", ") : own.words;
    return { value, far, marks, curve, words, at };
  }

  conditions(record, values) {
    const sides = sidesAt(record, values);
    const items = record.conditions.map((name, index) => {
      const good = holds(sides[index]);
      const item = make("li", { className: good ? "good" : "bad" }, make("span", { className: "sign" }, good ? "✓" : "✗"), ` ${name}: `,
        make("span", { className: "sides" }, `${brief(sides[index][0])} ${good ? "≤" : ">"} ${brief(sides[index][1])}`));
      for (const { name: which, value } of good ? [] : remedies(record, index, values)) {
        item.append(" ", make("button", { type: "button", onclick: () => this.set(which, value) }, `set ${which} = ${plain(value)}`));
      }
      return item;
    });
    this.limits.replaceChildren(...(items.length ? items : [make("li", { className: "good" }, "None beyond the domains of the parameters.")]));
  }

  // The horizontal range: around the known exact values, or that of the slider.
  xRange(parameter, found) {
    const x = this.state.values[parameter.name];
    const known = found && !found.far.length ? [...(found.curve?.[0] ?? []), ...found.marks.map((mark) => mark.x), x].filter((one) => one > 0) : [];
    if (known.length > 1 && Math.max(...known) > Math.min(...known)) {
      const [low, high] = [Math.min(...known), Math.max(...known)];
      const spare = Math.max((high / low) ** 0.05, 1.3);
      const within = (one) => Math.min(Math.max(one, parameter.lower || (parameter.integer ? 1 : 0)), parameter.upper ?? Infinity);
      return [within(low / spare), within(high * spare)];
    }
    const [low, high] = rangeOf(parameter, x);
    return [Math.max(low, x > 0 ? x / 1000 : low), Math.min(high, Math.max(x, low) * 1000)];
  }

  samples(parameter, [low, high]) {
    const at = Array.from({ length: SAMPLES }, (_, k) => low * (high / low) ** (k / (SAMPLES - 1)));
    return parameter.integer ? [...new Set(at.map(Math.round))].filter((x) => x >= low && x <= high) : at;
  }

  lines() {
    const { record, values, along } = this.state;
    const parameter = record.parameters.find(({ name }) => name === along);
    const found = this.truthHere();
    const range = this.xRange(parameter, found);
    const xs = this.samples(parameter, range);
    const curves = this.editions(record).filter((one) => one.formula.bound).map((one) => {
      const given = carried(one, values, one.at);
      const points = xs.map((x) => {
        const there = { ...given, [along]: x };
        return [x, boundAt(one, there), allowed(one, there)];
      });
      return { name: `${one.edition}: ${relation(one)} bound of ${one.quantity}`, look: one.edition, points };
    });
    const dots = found && (found.curve ? found.curve[0].map((x, k) => [x, found.curve[1][k]]) : found.marks.map((mark) => [mark.x, mark.y]));
    const shownDots = dots ? dots.filter(([x]) => x >= range[0] && x <= range[1]) : [];
    const exact = shownDots.length ? [{ name: `exact: ${record.quantity}`, look: "exact", points: shownDots, dots: true, faded: found.far.length > 0 }] : [];
    return { curves, exact, range, found, parameter };
  }

  draw() {
    const { record, values, along } = this.state;
    if (!record || !this.sliders) return;
    const { curves, exact, range, found, parameter } = this.lines();
    const bound = boundAt(record, values);
    const marks = [{ x: values[along], y: bound, look: record.edition }];
    if (found && !found.far.length && found.value !== null) {
      const ratio = found.value / bound;
      const broken = record.direction === "upper" && bound > 0 && ratio > 1 + 1e-9;
      marks.push({ x: values[along], y: found.value, look: broken ? "exact broken" : "exact", words: broken ? `${times(ratio)} times the bound` : "" });
    }
    plot(this.svg, {
      lines: [...curves, ...exact], marks: marks.filter((mark) => Number.isFinite(mark.y) && mark.x >= range[0] && mark.x <= range[1]),
      xRange: range, xLog: range[0] > 0, here: values[along],
      xName: `${along}: ${parameter.meaning.split(":")[0].slice(0, 60)}`, yName: (record.quantity.length > 28 ? "value" : record.quantity) + unitOf(record),
    });
    const items = [...curves, ...exact].map((line) => make("li", { className: `${line.look}${line.faded ? " faded" : ""}` }, line.name));
    this.legend.replaceChildren(...items);
    this.svg.setAttribute("aria-label", [...curves, ...exact].map((line) => line.name).join("; ") + ` against ${along}`);
    this.note.textContent = this.story(record, found, along);
  }

  story(record, found, along) {
    if (!found) return `No exact value is drawn: the library knows none for this record${record.superseded ? `; ${record.superseded} is sharper and may have one` : ""}.`;
    const where = `Exact values: ${found.words}.`;
    const dotted = " Dotted parts of a bound are beyond its conditions.";
    if (found.far.length) return `${where} Faded: that instance is elsewhere (${found.far.join("; ")}).${dotted}`;
    if (!found.curve) return `${where} Along ${along} the instance is known at one point.${dotted}`;
    return where + dotted;
  }

  // The corrected statements of the same result, at the values at hand where these are all they take.
  alternatives(record, values) {
    const siblings = this.data.records.filter((one) =>
      one !== record && one.edition === "corrected" && !one.superseded && (one.key === record.key || one.key.startsWith(`${record.key}-`)));
    this.instead.replaceChildren();
    if (!siblings.length) return;
    const rows = siblings.map((one) => {
      const missing = one.parameters.filter(({ name }) => !(name in values)).map(({ name }) => name);
      const ready = one.formula.bound && !missing.length;
      const meets = ready && allowed(one, values);
      const number = ready ? `${relation(one)} ${shown(boundAt(one, values), one.direction)}${meets ? "" : " (beyond its conditions)"}` : missing.length ? `asks for ${missing.join(", ")}` : "";
      const button = make("button", { type: "button", onclick: () => this.open({ record: one, values: carried(one, values) }) }, one.title);
      return make("tr", {}, make("td", {}, button), make("td", {}, math(one.quantityMath)), make("td", {}, number));
    });
    const head = record.edition === "printed" ? "What holds instead, at these values" : "Other readings of it, at these values";
    this.instead.append(make("h3", {}, head), make("table", {}, make("tbody", {}, ...rows)));
  }

  takeaway() {
    const text = make("textarea", { readOnly: true, hidden: true, rows: 5, spellcheck: false });
    text.setAttribute("aria-label", "what was copied");
    const say = make("span", { className: "small" });
    say.setAttribute("role", "status");
    const kinds = {
      Link: () => location.href.split("#")[0] + linkOf(this.state),
      Python: ({ record, values }) => asPython(record, values, allowed(record, values)),
      Command: ({ record, values }) => asCommand(record, values, allowed(record, values)),
      LaTeX: ({ record, values }) => asLatex(record, values),
      CSV: () => {
        const { curves, exact } = this.lines();
        return asCsv(this.state.along, [...curves, ...exact]);
      },
    };
    const buttons = Object.entries(kinds).map(([name, give]) =>
      make("button", { type: "button", onclick: async () => {
        text.value = give(this.state);
        text.hidden = false;
        text.select();
        const kept = await navigator.clipboard?.writeText(text.value).then(() => true, () => false);
        say.textContent = kept ? `${name} copied.` : `${name}: copy the text below.`;
      } }, `Copy ${name}`));
    return make("section", { className: "take" }, make("h3", {}, "Take away"), ...buttons, " ", say, text);
  }
}
