// One key of the preset: a slider on a sensible scale, an exact entry, the loader's own words beside it.

import { Slider, scaleOf } from "./knobs.js";
import { text as written } from "./units.js";

export const SLIDING = new Set(["number", "level"]);

export class Row {
  constructor(path, key, inspector) {
    Object.assign(this, { path, key, inspector });
    this.shared = path.replace(/^strings[.]\d+[.](?=[^.]+[.])/, ""); // where it stands for all of several strings
    const row = document.createElement("div");
    row.className = "row";
    row.dataset.path = path;
    this.element = row;
    const id = `key-${path.replaceAll(".", "-")}`;
    const label = document.createElement("label");
    label.htmlFor = id;
    label.textContent = path.split(".").at(-1);
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
    const value = state.values[path] ?? state.values[this.shared] ?? state.derived[this.shared] ?? key.default;
    this.value = typeof value === "number" ? value : null;
    this.said = state.texts[path] ?? state.texts[this.shared] ?? this.shown(value);
    this.optional = !key.required || path !== this.shared || key.name === "barrier.profile"; // without one there is no barrier
    this.element.classList.toggle("set", given && this.optional);
    this.element.classList.toggle("unset", !given);
    if (document.activeElement !== this.entry || this.entry.tagName === "SELECT") {
      this.entry.value = key.choices.length ? String(key.kind === "switch" ? (value ? "yes" : "no") : value) : this.said;
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
    const { error } = await this.inspector.remove(this.key.name === "barrier.profile" ? this.path.replace(/[.]profile$/, "") : this.path);
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
