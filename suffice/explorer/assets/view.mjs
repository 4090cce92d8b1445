// One record: its statement, value, conditions, sliders, plot, what holds instead, and what people take away.
import { asCommand, asCsv, asLatex, asPython } from "./copies.mjs";
import { linesOf, sameInstance, truthAt } from "./curves.mjs";
import { brief, button, make, math, relation, times, unitOf } from "./elements.mjs";
import { linkOf } from "./link.mjs";
import { plain, shown } from "./numbers.mjs";
import { plot } from "./plot.mjs";
import { slider } from "./slider.mjs";
import { allowed, boundAt, carried, claimed, failing, holds, remedies, sidesAt } from "./solve.mjs";
import { counterexample, statement } from "./statement.mjs";

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
    const { record, erratum } = state;
    const turn = one => this.turn(one);
    this.root.replaceChildren(
      record ? statement(record, this.editions(record), turn) : make("h2", {}, erratum.location),
    );
    const corrected = one => erratum && one.key === erratum.correct && one.edition === "corrected";
    if (erratum) this.root.append(counterexample(erratum, record, this.data.records.find(corrected), turn));
    if (record) this.root.append(...this.parts(record));
    this.update();
  }

  // The other edition at the same values.
  turn(record) {
    this.open({
      record,
      values: sameInstance(this.state, record) ?? { ...record.at, ...this.shared(record) },
      along: this.state.along,
      erratum: this.state.erratum,
    });
  }

  shared(record) {
    const kept = record.parameters.filter(({ name }) => name in this.state.values);
    return Object.fromEntries(kept.map(({ name }) => [name, this.state.values[name]]));
  }

  parts(record) {
    this.value = make("p", { className: "value" });
    this.verdict = make("p", { className: "truth" });
    this.limits = make("ul", { className: "conditions" });
    const about = this.data.errata.filter(entry => entry.correct === record.key);
    const errata = about.map(erratum =>
      button(() => this.open({ erratum }), "counter", `${erratum.location}: ${erratum.truth}`),
    );
    const wrong = errata.length
      ? [make("section", {}, make("h3", {}, "What is wrong in print, with counterexamples"), ...errata)]
      : [];
    const instead = this.alternatives(record);
    if (!record.parameters.length || !record.formula.bound) {
      this.sliders = null;
      const words = record.reason
        ? `It cannot be evaluated: ${record.reason}`
        : "The library evaluates this bound, this page does not: it takes a special function, or numbers of Python alone.";
      return [make("p", { className: "notice" }, words), ...wrong, ...instead];
    }
    this.sliders = record.parameters.map(parameter =>
      slider(parameter, this.state.values[parameter.name], value => this.set(parameter.name, value)),
    );
    this.choice = make("select", { onchange: () => this.along(this.choice.value) });
    for (const { name, letters } of record.parameters)
      this.choice.append(make("option", { value: name }, `${name} (${letters})`));
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("role", "img");
    this.legend = make("ul", { className: "legend" });
    this.note = make("p", { className: "small" });
    const move = make("section", {}, make("h3", {}, "Move"), ...this.sliders.map(one => one.box));
    const heads = [make("h3", {}, "Conditions"), make("h3", {}, "Plot against ", this.choice)];
    const see = make("section", {}, heads[0], this.limits, heads[1], this.svg, this.legend, this.note);
    return [
      make("section", { className: "now" }, this.value, this.verdict),
      make("div", { className: "columns" }, move, see),
      ...wrong,
      ...instead,
      this.takeaway(),
    ];
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
      cancelAnimationFrame(this.frame); // the number is there at once, the picture with the next frame
      this.frame = requestAnimationFrame(() => this.draw());
    }
    if (record) this.readAgain();
    this.changed(this.state);
  }

  says(record, values) {
    const [number, unmet] = [claimed(record, values), failing(record, values)];
    const says = unmet.length
      ? [": the bound does not apply here"]
      : [` ${relation(record)} `, make("b", {}, shown(number, record.direction))];
    this.value.replaceChildren(math(record.quantityMath), ...says);
    this.value.dataset.bound = boundAt(record, values);
    const why = `A condition fails: ${unmet.join("; ")}. The formula gives ${shown(boundAt(record, values))}, which claims nothing.`;
    this.verdict.replaceChildren(...(unmet.length ? [why] : this.beside(record, number)));
  }

  // The exact value at hand, or why there is none.
  beside(record, bound) {
    const found = truthAt(this.state);
    if (!found) return ["No exact value is known here."];
    if (found.far.length)
      return [make("span", { className: "faded" }, `The exact value is of another instance: ${found.far.join("; ")}.`)];
    if (found.value === null) return ["The exact value is known at the dots of the curve."];
    const upper = record.direction === "upper";
    const broken = (upper ? found.value - bound : bound - found.value) > 1e-9 * Math.abs(bound);
    const over = upper === bound > 0; // of two negative numbers the larger one is nearer to 0
    const ratio = over ? found.value / bound : bound / found.value;
    const far = bound > 0 ? `${times(found.value / bound)} times it` : upper ? "above it" : "below it";
    const word = broken
      ? ` The ${record.edition} bound is broken: the truth is ${far}.`
      : ` The bound holds; ${over ? "exact/bound" : "bound/exact"} is ${found.value ? times(ratio) : "0"}.`;
    return [
      "Exactly ",
      make("b", {}, shown(found.value)),
      ":",
      make("span", { className: broken ? "broken" : "kept" }, word),
    ];
  }

  conditions(record, values) {
    const sides = sidesAt(record, values);
    const items = record.conditions.map((name, index) => {
      const good = holds(sides[index]);
      const item = make(
        "li",
        { className: good ? "good" : "bad" },
        make("span", { className: "sign" }, good ? "✓" : "✗"),
        ` ${name}: `,
        make("span", { className: "sides" }, `${brief(sides[index][0])} ${good ? "≤" : ">"} ${brief(sides[index][1])}`),
      );
      for (const { name: which, value } of good ? [] : remedies(record, index, values)) {
        item.append(
          " ",
          button(() => this.set(which, value), "", `set ${which} = ${plain(value)}`),
        );
      }
      return item;
    });
    this.limits.replaceChildren(
      ...(items.length ? items : [make("li", { className: "good" }, "None beyond the domains of the parameters.")]),
    );
  }

  draw() {
    const { record, values, along } = this.state;
    if (!record || !this.sliders) return;
    const { curves, exact, range, found, parameter } = linesOf(this.state, this.editions(this.state.record));
    const bound = claimed(record, values);
    const applies = allowed(record, values);
    const marks = applies ? [{ x: values[along], y: bound, look: record.edition }] : [];
    if (found && !found.far.length && found.value !== null) {
      const ratio = found.value / bound;
      const broken = applies && record.direction === "upper" && bound > 0 && ratio > 1 + 1e-9;
      marks.push({
        x: values[along],
        y: found.value,
        look: broken ? "exact broken" : "exact",
        words: broken ? `${times(ratio)} times the bound` : "",
      });
    }
    plot(this.svg, {
      lines: [...curves, ...exact],
      marks: marks.filter(mark => Number.isFinite(mark.y) && mark.x >= range[0] && mark.x <= range[1]),
      xRange: range,
      xLog: range[0] > 0,
      here: values[along],
      xNames: [`${along}: ${parameter.meaning}`, `${along}: ${parameter.meaning.split(/[:;,(]/)[0]}`, along],
      yNames: [record.quantity + unitOf(record), record.quantity, `value${unitOf(record)}`, "value"],
    });
    const items = [...curves, ...exact].map(line =>
      make("li", { className: `${line.look}${line.faded ? " faded" : ""}` }, line.name),
    );
    this.legend.replaceChildren(...items);
    this.svg.setAttribute("aria-label", [...curves, ...exact].map(line => line.name).join("; ") + ` against ${along}`);
    this.note.textContent = this.story(record, found, along);
  }

  story(record, found, along) {
    if (!found)
      return `No exact value is drawn: the library knows none for this record${record.superseded ? `; ${record.superseded} is sharper and may have one` : ""}.`;
    const where = `Exact values: ${found.words}.`;
    const dotted = " Dotted parts of a bound are beyond its conditions.";
    if (found.far.length) return `${where} Faded: the sliders have left that instance.${dotted}`;
    if (found.curve[0].length < 2) return `${where} Along ${along} the instance is known at one point.${dotted}`;
    return where + dotted;
  }

  // The corrected statements of the same result, each with a cell for its value and what opens it.
  alternatives(record) {
    const belongs = ({ key }) => key === record.key || key.startsWith(`${record.key}-`);
    const siblings = this.data.records.filter(
      one => one !== record && one.edition === "corrected" && !one.superseded && belongs(one),
    );
    this.readings = siblings.map(one => ({ one, cell: make("td") }));
    if (!siblings.length) return [];
    const rows = this.readings.map(({ one, cell }) => {
      const open = () => this.open({ record: one, values: carried(one, this.known()), along: this.state.along });
      const title = make("td", {}, button(open, "", one.title));
      return make("tr", {}, title, make("td", {}, math(one.quantityMath)), cell);
    });
    const head =
      record.edition === "printed" ? "What holds instead, at these values" : "Other readings of it, at these values";
    return [make("section", {}, make("h3", {}, head), make("table", {}, make("tbody", {}, ...rows)))];
  }

  // The values at hand, and numbers of the erratum's instance that the record itself does not take.
  known() {
    const told = this.state.erratum
      ? this.state.erratum.inputs.filter(([, text]) => Number.isFinite(Number(text)))
      : [];
    return { ...Object.fromEntries(told.map(([name, text]) => [name, Number(text)])), ...this.state.values };
  }

  readAgain() {
    const values = this.known();
    for (const { one, cell } of this.readings) {
      const missing = one.parameters.filter(({ name }) => !(name in values)).map(({ name }) => name);
      if (missing.length) cell.textContent = `asks for ${missing.join(", ")}`;
      else if (!one.formula.bound) cell.textContent = "";
      else {
        const unmet = failing(one, values);
        cell.textContent = unmet.length
          ? `does not apply: ${unmet.join("; ")} fails`
          : `${relation(one)} ${shown(claimed(one, values), one.direction)}`;
      }
    }
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
        const { curves, exact } = linesOf(this.state, this.editions(this.state.record));
        return asCsv(this.state.along, [...curves, ...exact]);
      },
    };
    const copy = async (name, give) => {
      text.value = give(this.state);
      text.hidden = false;
      text.select();
      const kept = await navigator.clipboard?.writeText(text.value).then(
        () => true,
        () => false,
      );
      say.textContent = kept ? `${name} copied.` : `${name}: copy the text below.`;
    };
    const buttons = Object.entries(kinds).map(([name, give]) => button(() => copy(name, give), "", `Copy ${name}`));
    return make("section", { className: "take" }, make("h3", {}, "Take away"), ...buttons, " ", say, text);
  }
}
