// One record: its formula, plot and sliders, conditions, statement, what holds instead, and what people take away.
import { asCommand, asLatex, asPython } from "./copies.mjs";
import { linesOf, sameInstance, truthAt } from "./curves.mjs";
import { brief, button, listed, make, math, relation, rich, times, unitOf } from "./elements.mjs";
import { shown } from "./numbers.mjs";
import { plot } from "./plot.mjs";
import { slider } from "./slider.mjs";
import { allowed, boundAt, breaks, carried, claimed, failing, holds, refusal, sidesAt } from "./solve.mjs";
import { counterexample, details, statement } from "./statement.mjs";

const UNSEEN =
  "The library evaluates this bound, this page does not: it takes a special function, or numbers of Python alone.";

export class View {
  constructor(root, data, { open, changed }) {
    Object.assign(this, { root, data, open, changed });
    new ResizeObserver(() => this.state && this.draw()).observe(root);
  }

  editions(record) {
    return this.data.records.filter(one => one.key === record.key);
  }

  show(state) {
    this.state = state;
    const { record, erratum, notice } = state;
    const turn = one => this.turn(one);
    const citation = record && this.data.papers.find(({ key }) => record.key.startsWith(`${key}/`)).citation;
    this.root.replaceChildren(
      ...(notice ? [make("p", { className: "notice" }, `The link was not followed: ${notice}.`)] : []),
      ...this.tour(erratum),
      record ? statement(record, this.editions(record), turn, citation) : make("h2", {}, rich(erratum.location)),
    );
    const corrected = one => erratum && one.key === erratum.correct && one.edition === "corrected";
    const card = erratum ? [counterexample(erratum, record, this.data.records.find(corrected), turn)] : [];
    this.root.append(...(record ? this.parts(record, card) : card));
    this.lights();
    this.update();
  }

  // Where a tour's erratum is open: what there is to do, and the ways to the others.
  tour(erratum) {
    const stops = this.data.tour;
    const here = stops.findIndex(stop => stop.erratum === erratum?.id);
    if (here < 0) return [];
    const at = stops.map(stop => this.data.errata.find(({ id }) => id === stop.erratum));
    const go = at.map((entry, index) => {
      const one = button(() => this.open({ ...stops[index], erratum: entry }), "", String(index + 1));
      const ariaLabel = `Erratum ${index + 1} of ${at.length}: ${entry.location}`;
      return Object.assign(one, { ariaLabel, ariaCurrent: index === here ? "step" : null });
    });
    const counted = this.data.errata.filter(({ kind }) => kind !== "loose").length;
    const rest = `The contents list all ${this.data.records.length} statements and ${counted} errata.`;
    return [
      make(
        "section",
        { className: "tour" },
        make("p", {}, make("b", {}, `${at[here].location}: ${erratum.said}. `), rich(stops[here].words)),
        make("p", { className: "small" }, `A tour of ${at.length} errata: `, ...go, ` ${rest}`),
      ),
    ];
  }

  // A symbol and its slider light each other.
  lights() {
    for (const { box } of this.sliders ?? []) {
      const symbol = box.querySelector("math > mrow");
      const sign = symbol.children.length === 1 ? symbol.innerHTML : symbol.outerHTML;
      const twins = [...this.root.querySelectorAll("math *")].filter(one => one.outerHTML === sign);
      const turn = on => [box, ...twins].forEach(one => one.classList.toggle("lit", on));
      for (const one of [box, ...twins]) {
        one.addEventListener("pointerenter", () => turn(true));
        one.addEventListener("pointerleave", () => turn(false));
      }
      box.addEventListener("focusin", () => turn(true));
      box.addEventListener("focusout", () => turn(false));
    }
  }

  // The other edition at the same values.
  turn(record) {
    const { values, along, erratum } = this.state;
    this.open({ record, values: { ...sameInstance(this.state, record), ...values }, along, erratum });
  }

  parts(record, card) {
    this.value = make("p", { className: "value" });
    this.verdict = make("p", { className: "truth" });
    this.limits = make("ul", { className: "conditions" });
    const about = this.data.errata.filter(entry => entry.correct === record.key && entry !== this.state.erratum);
    const errata = about.map(erratum =>
      button(() => this.open({ erratum }), "counter", `${erratum.location}: ${erratum.said}. `, rich(erratum.truth)),
    );
    const wrong = errata.length
      ? [make("section", {}, make("h3", {}, "What is wrong in print, with counterexamples"), ...errata)]
      : [];
    const rest = [...card, ...wrong, details(record), ...this.alternatives(record)];
    if (!record.parameters.length || !record.formula.bound) {
      this.sliders = null;
      const words = record.reason ? ["It cannot be evaluated: ", rich(record.reason)] : [UNSEEN];
      return [make("p", { className: "notice" }, ...words), ...rest];
    }
    this.sliders = record.parameters.map(parameter =>
      slider(parameter, this.state.values[parameter.name], value => this.set(parameter.name, value)),
    );
    const move = make("section", { className: "move" }, make("h3", {}, "Move"), ...this.sliders.map(one => one.box));
    this.text = make("pre", {});
    const away = make("details", {}, make("summary", {}, "In Python, at the command line and in LaTeX"), this.text);
    return [make("div", { className: "columns" }, this.picture(record), move, this.notes()), ...rest, away];
  }

  // The value, and the plot, in which a hand may move what it is drawn against.
  picture(record) {
    const onchange = () => this.update({ along: this.choice.value });
    const choices = record.parameters.map(({ name, letters }) => make("option", { value: name }, `${name} (${letters})`));
    this.choice = make("select", { onchange, ariaLabel: "plot against" }, ...choices);
    this.scales = [null, null]; // across and upward: whether logarithmic, as long as somebody has asked
    this.axes = ["xLog", "yLog"].map((log, axis) =>
      button(() => {
        this.scales[axis] = !this.drawn[log];
        this.draw();
      }, ""),
    );
    this.svg = Object.assign(document.createElementNS("http://www.w3.org/2000/svg", "svg"), { role: "img" });
    this.svg.onpointerdown = event => {
      this.svg.setPointerCapture(event.pointerId);
      this.state.held = this.drawn.range; // the picture stays while a hand is on it
      this.drag(event);
    };
    this.svg.onpointermove = event => event.buttons && this.drag(event);
    this.svg.onpointerup = this.svg.onpointercancel = () => {
      this.state.held = null;
      this.draw();
    };
    const controls = make("p", { className: "controls" }, math(record.quantityMath), `${unitOf(record)} against `);
    controls.append(this.choice, " ", ...this.axes);
    return make("section", { className: "picture" }, this.value, this.verdict, controls, this.svg);
  }

  notes() {
    this.legend = make("ul", { className: "legend" });
    this.note = make("p", { className: "small" });
    return make("section", { className: "notes" }, this.legend, this.note, make("h3", {}, "Conditions"), this.limits);
  }

  // To the value under the pointer; an exact one that is known within eight pixels draws it.
  drag(event) {
    const { along } = this.state;
    const { parameter, exact, range, across } = this.drawn;
    const pixel = event.clientX - this.svg.getBoundingClientRect().left;
    const x = Math.min(Math.max(across.back(pixel), range[0]), range[1]);
    const dots = exact.filter(({ aside }) => !aside).flatMap(({ points }) => points.map(([at]) => at));
    const away = at => Math.abs(across.at(at) - pixel);
    const near = dots.reduce((best, at) => (away(at) < away(best) ? at : best), Infinity);
    const value = away(near) <= 8 ? near : parameter.integer ? Math.round(x) : Number(x.toPrecision(3));
    if (!refusal(parameter, value)) this.set(along, value);
  }

  set(name, value) {
    this.update({ values: { ...this.state.values, [name]: value } });
  }

  update(changes) {
    const { record, values } = Object.assign(this.state, changes);
    if (record && this.sliders) {
      for (const one of this.sliders) one.put(values[one.parameter.name]);
      this.choice.value = this.state.along;
      this.conditions(record, values);
      this.says(record, values);
      const meets = allowed(record, values);
      const texts = [asPython(record, values, meets), asCommand(record, values, meets), asLatex(record, values)];
      this.text.textContent = texts.join("\n");
      cancelAnimationFrame(this.frame); // the number is there at once, the picture with the next frame
      this.frame = requestAnimationFrame(() => this.draw());
    }
    if (record) for (const { one, cell } of this.readings) cell.replaceChildren(...reading(one, this.known()));
    this.changed(this.state);
  }

  says(record, values) {
    const [number, unmet] = [claimed(record, values), failing(record, values)];
    const says = unmet.length
      ? [": the bound does not apply here"]
      : [` ${relation(record)} `, make("b", {}, shown(number, record.direction))];
    this.value.replaceChildren(math(record.quantityMath), ...says);
    this.value.dataset.bound = boundAt(record, values);
    const why = `. The formula gives ${shown(boundAt(record, values))}, which claims nothing.`;
    const fails = ["A condition fails: ", ...listed(unmet, "; "), why];
    this.verdict.replaceChildren(...(unmet.length ? fails : this.beside(record, number)));
  }

  // The exact value at hand, or why there is none.
  beside(record, bound) {
    const found = truthAt(this.state);
    if (!found) return ["No exact value is known here."];
    if (found.far.length)
      return [make("span", { className: "faded" }, `The exact value is of another instance: ${found.far.join("; ")}.`)];
    if (found.value === null) return ["The exact value is known at the dots of the curve."];
    const upper = record.direction === "upper";
    const broken = breaks(found.value, bound, record.direction);
    const over = upper === bound > 0; // of two negative numbers the larger one is nearer to 0
    const ratio = over ? found.value / bound : bound / found.value;
    const far = bound > 0 ? `${times(found.value / bound)} times it` : upper ? "above it" : "below it";
    const word = broken
      ? ` The ${record.edition} bound is broken: the truth is ${far}.`
      : ` The bound holds; ${over ? "exact/bound" : "bound/exact"} is ${found.value ? times(ratio) : "0"}.`;
    const judged = make("span", { className: broken ? "broken" : "kept" }, word);
    return ["Exactly ", make("b", {}, shown(found.value)), ":", judged];
  }

  conditions(record, values) {
    const sides = sidesAt(record, values);
    const items = record.conditions.map((name, index) => {
      const good = holds(sides[index]);
      const sign = make("span", { className: "sign" }, good ? "✓ " : "✗ ");
      const [left, right] = sides[index].map(side => brief(side));
      const both = make("span", { className: "sides" }, `${left} ${good ? "≤" : ">"} ${right}`);
      return make("li", { className: good ? "good" : "bad" }, sign, rich(name), ": ", both);
    });
    const none = make("li", { className: "good" }, "None beyond the domains of the parameters.");
    this.limits.replaceChildren(...(items.length ? items : [none]));
  }

  draw() {
    const { record, values, along } = this.state;
    if (!record || !this.sliders) return;
    this.drawn = linesOf(this.state, this.editions(record), this.data.paths, this.scales[0]);
    const { curves, exact, paths, range, xLog, found, parameter } = this.drawn;
    const bound = claimed(record, values);
    const applies = allowed(record, values);
    const marks = applies ? [{ x: values[along], y: bound, look: record.edition }] : [];
    if (found && !found.far.length && found.value !== null) {
      const broken = applies && breaks(found.value, bound, record.direction);
      const words = broken && bound > 0 ? `${times(found.value / bound)} times the bound` : "";
      marks.push({ x: values[along], y: found.value, look: broken ? "exact broken" : "exact", words });
    }
    const lines = [...curves, ...exact];
    const across = plot(this.svg, {
      lines,
      marks: marks.filter(mark => Number.isFinite(mark.y) && mark.x >= range[0] && mark.x <= range[1]),
      paths,
      level: { y: this.data.paths.eps, name: "ε" },
      xRange: range,
      xLog,
      yLinear: this.scales[1] === false,
      here: values[along],
      xNames: [parameter.meaning, parameter.meaning.split(/[:;,(]/)[0], ""].map(words => `${parameter.letters}: ${words}`),
    });
    Object.assign(this.drawn, { yLog: across.yLog, across });
    for (const [axis, name] of ["horizontal", "vertical"].entries()) {
      const log = axis ? this.drawn.yLog : xLog;
      this.axes[axis].textContent = `${name}: ${log ? "log" : "linear"}`;
    }
    const item = (look, ...words) => make("li", { className: look }, ...words);
    const items = lines.map(({ look, faded, words, quantityMath }) =>
      item(`${look}${faded ? " faded" : ""}`, `${words} `, math(quantityMath)),
    );
    if (paths.length) items.push(item("path", "a simulated path, up to its ring, where it is first below ε"));
    if (paths.some(({ look }) => look === "path gone"))
      items.push(item("gone", "what follows, alone: the mean counts it, 1{τ ≥ T} does not"));
    this.legend.replaceChildren(...items);
    this.svg.ariaLabel = lines.map(({ name }) => name).join("; ") + ` against ${along}`;
    this.note.replaceChildren(...this.story(record, found, along));
  }

  story(record, found, along) {
    const drag = "Drag in the plot to move along it.";
    const sharper = record.superseded ? `; ${record.superseded} is sharper and may have one` : "";
    if (!found) return [`No exact value is drawn: the library knows none for this record${sharper}. ${drag}`];
    const point = found.curve[0].length < 2 ? ` Along ${along} the instance is known at one point.` : "";
    const rest = found.far.length ? " Faded: the sliders have left that instance." : point;
    const more = `.${rest} Dotted parts of a bound are beyond its conditions. ${drag}`;
    return ["Exact values: ", ...listed(found.words, ", "), more];
  }

  // The corrected statements of the same result, each with a cell for its value and what opens it.
  alternatives(record) {
    const belongs = ({ key }) => key === record.key || key.startsWith(`${record.key}-`);
    const siblings = this.data.records.filter(
      one => one !== record && one.edition === "corrected" && !one.superseded && belongs(one),
    );
    this.readings = siblings.map(one => ({ one, cell: make("td") }));
    const rows = this.readings.map(({ one, cell }) => {
      const open = () => this.open({ record: one, values: carried(one, this.known()), along: this.state.along });
      const title = make("td", {}, button(open, "", rich(one.title)));
      return make("tr", {}, title, make("td", {}, math(one.quantityMath)), cell);
    });
    const wrong = record.edition === "printed" && record.faultLabel === "Fault";
    const head = `${wrong ? "What holds instead" : "Other readings of it"}, at these values`;
    return rows.length ? [make("section", {}, make("h3", {}, head), make("table", {}, make("tbody", {}, ...rows)))] : [];
  }

  // The values at hand, and numbers of the erratum's instance that the record itself does not take.
  known() {
    const told = (this.state.erratum?.inputs ?? []).map(([name, text]) => [name, Number(text)]);
    return { ...Object.fromEntries(told.filter(([, number]) => Number.isFinite(number))), ...this.state.values };
  }
}

// The value of another record, or why it has none.
function reading(one, values) {
  const missing = one.parameters.filter(({ name }) => !(name in values)).map(({ name }) => make("code", {}, name));
  if (missing.length) return ["asks for ", ...missing.flatMap(name => [", ", name]).slice(1)];
  if (!one.formula.bound) return [];
  const unmet = failing(one, values);
  if (unmet.length) return [`does not apply: ${unmet.join("; ")} fails`];
  return [`${relation(one)} ${shown(claimed(one, values), one.direction)}`];
}
