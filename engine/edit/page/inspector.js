// Every key of the preset, made from the schema's own table, with the loader's own words beside a field.

import { Slider, scaleOf } from "./knobs.js";
import { digits, text as written } from "./units.js";

const TITLES = {
  "": "The preset", string: "String", "string.loss": "Loss", barrier: "Barrier", contact: "Contact", excitation: "Pluck",
  pickups: "Pickups", velocity: "Velocity", tracking: "From key to key", map: "Controllers", playing: "Playing",
};
const PLAYING = new Set(["oversample", "polyphony", "gain", "release", "tuning", "phrase"]);
const SLIDING = new Set(["number", "level"]);
const CLOSED = new Set(["velocity", "tracking", "map", ""]);

export class Inspector {
  constructor({ box, search, help, set, remove, names }) {
    Object.assign(this, { box, search, help, set, remove, names });
    this.rows = new Map();
    this.open = new Map();
    search.addEventListener("input", () => this.filter());
  }

  begin(table) {
    this.table = new Map(table.map((key) => [key.name, key]));
    this.shape = "";
  }

  show(state) {
    const paths = state.paths.map(([path, name]) => [path, this.table.get(name)]);
    const shape = paths.map(([path]) => path).join();
    if (shape !== this.shape) this.build(paths);
    this.shape = shape;
    const changed = this.title !== state.name;
    this.title = state.name;
    for (const [path, row] of this.rows) row.show(state, changed);
    this.filter();
  }

  groupOf(path, key) {
    if (PLAYING.has(path)) return "playing";
    const words = key.name.split(".");
    return words.slice(0, -1).join(".");
  }

  build(paths) {
    for (const part of this.box.querySelectorAll("details")) this.open.set(part.dataset.group, part.open);
    const focused = document.activeElement?.closest?.(".row")?.dataset.path;
    this.box.textContent = "";
    this.rows.clear();
    const parts = new Map();
    const order = ["string", "string.loss", "barrier", "contact", "excitation", "pickups", "playing", "velocity", "tracking", "map", ""];
    const groups = new Map(paths.map(([path, key]) => [path, this.groupOf(path, key)]));
    for (const group of [...order, ...groups.values()]) {
      if (parts.has(group) || ![...groups.values()].includes(group)) continue;
      const part = document.createElement("details");
      part.dataset.group = group;
      part.open = this.open.get(group) ?? !CLOSED.has(group);
      const title = document.createElement("summary");
      title.textContent = TITLES[group] ?? group;
      part.append(title);
      parts.set(group, part);
      this.box.append(part);
    }
    for (const [path, key] of paths) {
      const row = new Row(path, key, this);
      this.rows.set(path, row);
      parts.get(groups.get(path)).append(row.element);
    }
    if (focused) this.rows.get(focused)?.element.querySelector("input,select")?.focus();
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const [path, row] of this.rows) row.element.hidden = wanted !== "" && !`${path} ${row.key.meaning}`.toLowerCase().includes(wanted);
    for (const part of this.box.querySelectorAll("details")) {
      part.hidden = ![...part.querySelectorAll(".row")].some((row) => !row.hidden);
      if (wanted && !part.hidden) part.open = true;
    }
  }

  explain({ path, key }) {
    this.help.textContent = "";
    const name = document.createElement("b");
    name.textContent = path;
    const range = key.choices.length || key.low === null || !SLIDING.has(key.kind) ? "" : ` From ${digits(key.low)} to ${digits(key.high)} ${key.unit}.`;
    this.help.append(name, ` ${key.meaning}${range}`);
  }
}

class Row {
  constructor(path, key, inspector) {
    Object.assign(this, { path, key, inspector });
    const row = document.createElement("div");
    row.className = "row";
    row.dataset.path = path;
    this.element = row;
    const id = `key-${path.replaceAll(".", "-")}`;
    const label = document.createElement("label");
    label.htmlFor = id;
    const own = new Set(key.name.split(".").slice(0, -1)); // which of several it is, and its own word
    const words = path.split(".").filter((word, n, all) => n === all.length - 1 || !own.has(word));
    label.textContent = words.map((word) => (/^\d+$/.test(word) ? Number(word) + 1 : word)).join(" ");
    label.title = path;
    this.label = label;
    this.unit = document.createElement("small");
    label.append(this.unit);
    row.append(label);
    this.makeEntry(id);
    if (SLIDING.has(key.kind)) {
      const input = document.createElement("input");
      input.setAttribute("aria-label", `${path}, slider`);
      this.slider = new Slider(input, (value, gesture) => this.turned(value, gesture));
      input.addEventListener("dblclick", () => this.reset());
      row.append(input);
    } else this.entry.classList.add("wide");
    row.append(this.entry);
    const none = document.createElement("button");
    none.className = "none";
    none.textContent = "↺";
    none.title = "Leave it out: the default";
    none.setAttribute("aria-label", `${path}: back to the default`);
    none.addEventListener("click", () => this.reset());
    row.append(none);
    this.none = none;
    this.error = document.createElement("p");
    this.error.className = "error";
    this.error.id = `${id}-error`;
    this.error.setAttribute("role", "alert");
    row.append(this.error);
    for (const name of ["pointerenter", "focusin"]) row.addEventListener(name, () => inspector.explain(this));
  }

  makeEntry(id) {
    const { key } = this;
    if (key.choices.length) {
      this.entry = document.createElement("select");
      for (const choice of key.choices) this.entry.add(new Option(String(choice), String(choice)));
      this.entry.addEventListener("change", () => this.typed());
    } else {
      this.entry = document.createElement("input");
      this.entry.type = "text";
      this.entry.spellcheck = false;
      this.entry.autocomplete = "off";
      this.entry.addEventListener("change", () => this.typed());
      this.entry.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
          this.entry.value = this.said;
          this.fail("");
          this.entry.blur();
        }
      });
    }
    this.entry.id = id;
    this.entry.classList.add("entry");
    this.entry.setAttribute("aria-describedby", `${id}-error`);
  }

  show(state, fresh) {
    const { path, key } = this;
    const given = path in state.texts;
    this.given = given;
    this.text = state.texts[path];
    const value = state.values[path] ?? state.derived[path] ?? key.default;
    this.value = typeof value === "number" ? value : null;
    this.said = given ? state.texts[path] : this.shown(value);
    this.optional = !key.required || path === "barrier.profile"; // without a profile there is no barrier
    this.element.classList.toggle("set", given && this.optional);
    this.element.classList.toggle("unset", !given);
    if (document.activeElement !== this.entry || this.entry.tagName === "SELECT") {
      this.entry.value = key.choices.length ? String(value) : this.said;
      this.fail("");
    }
    this.unit.textContent = SLIDING.has(key.kind) && /^[-+.\de]*$/i.test(this.said) && !/exponent/.test(key.unit) ? key.unit : "";
    if (this.slider) {
      const known = this.value ?? 0;
      if (fresh || !this.scale || !this.slider.gesture) {
        const place = this.scale?.from(known);
        if (fresh || !this.scale || place < -0.001 || place > 1.001) this.scale = scaleOf(key, known);
      }
      this.slider.set(this.scale, known, this.said);
    }
  }

  shown(value) {
    if (value === null || value === undefined) return "";
    return typeof value === "number" ? written(value, this.key.unit) : String(value);
  }

  turned(value, gesture) {
    const { key } = this;
    if (key.low !== null) value = Math.max(value, key.low);
    if (key.high !== null) value = Math.min(value, key.high);
    const said = written(value, key.unit, this.text, this.value, 3);
    this.entry.value = said;
    this.ask(said, gesture);
  }

  typed() {
    const said = this.entry.value.trim();
    if (said === this.said) return this.fail("");
    if (said === "") return this.reset();
    this.ask(said, 0);
  }

  async ask(said, gesture) {
    const { error } = await this.inspector.set(this.path, said, gesture);
    this.fail(error ?? "");
  }

  async reset() {
    if (!this.given || !this.optional) return;
    const { error } = await this.inspector.remove(this.path === "barrier.profile" ? "barrier" : this.path);
    this.fail(error ?? "");
  }

  fail(error) {
    const lines = error.split("\n");
    const mine = lines.find((line) => line.includes(this.path)) ?? lines[0];
    this.error.textContent = mine.replace(/^[^ ]*?:(\d+: )?/, "").trim() || mine;
    this.element.classList.toggle("wrong", Boolean(error));
    this.entry.setAttribute("aria-invalid", String(Boolean(error)));
  }
}
