// Every key that a preset may have, made from the schema's own table, in groups that are filled as they are opened: an
// instrument of many strings has thousands of them. Lists of things grow and shrink here.

import { Row, SLIDING } from "./row.js";
import { digits } from "./units.js";

const TITLES = {
  "": "The preset", string: "String", "string.loss": "Loss", barrier: "Barrier", contact: "Contact", excitation: "Pluck", exciter: "Exciter", knock: "Knock on the body",
  damper: "Damper", ports: "What hangs on it", planes: "Planes", courses: "Courses", registers: "Registers", strings: "Strings", body: "Body", "body.modes": "The body's modes",
  "body.plate": "The body's plate", pickups: "Pickups", room: "Room", strum: "Strum", drone: "Drone", playing: "Playing", velocity: "Velocity", tracking: "From key to key", map: "Controllers",
  circuit: "Circuit behind the pickups",
};
const ORDER = Object.keys(TITLES).filter(Boolean).concat("");
const ELSEWHERE = { oversample: "playing", polyphony: "playing", gain: "playing", bend: "playing", release: "playing", tuning: "playing", intonation: "playing", phrase: "playing", voicing: "playing", compass: "playing", coupling: "body" };
const OPEN = new Set(["string", "string.loss", "barrier", "contact", "excitation", "pickups", "playing", "strings", "body", "room"]);
// What is added to a list where there is nothing to copy, beside the schema's own example.
const ANSWERING =
  "{sympathetic: [C4, G4], string: {length: 700 mm, diameter: 0.25 mm, material: steel, tuned: C4}, barrier: {profile: parabola, to: 12 mm, curvature: 1 1/m, points: 3}}";

const groupOf = (name) => ELSEWHERE[name] ?? name.split(".").slice(0, -1).join(".");

export class Inspector {
  constructor({ box, search, help, set, remove, add }) {
    Object.assign(this, { box, search, help, set, remove, add });
    this.sections = [];
    search.addEventListener("input", () => this.filter());
  }

  begin({ rows, groups }) {
    this.table = rows;
    this.repeated = groups.repeated;
    this.own = groups.own;
    const found = new Set(rows.map(({ name }) => groupOf(name)));
    this.box.textContent = "";
    this.sections = [...ORDER, ...found].filter((group, n, all) => found.has(group) && all.indexOf(group) === n).map((group) => new Section(this, "", group));
    this.box.append(...this.sections.map(({ element }) => element));
  }

  show(state) {
    this.fresh = this.title !== state.name;
    this.title = state.name;
    this.state = state;
    for (const section of this.sections) section.show(state);
    this.filter();
  }

  // Keys of a group of the preset, or of one of its strings: those that belong to what was chosen in it.
  keysOf(prefix, group, path = prefix + group) {
    const { values } = this.state;
    const here = this.table.filter(({ name }) => groupOf(name) === group);
    const belongs = ({ profiles }) => {
      const chooser = profiles.length && here.find(({ choices }) => choices.length && profiles.every((word) => choices.includes(word)));
      return !chooser || profiles.includes(values[`${path}.${chooser.name.split(".").at(-1)}`] ?? values[chooser.name] ?? chooser.default);
    };
    return here.filter(belongs);
  }

  // Groups that a string may have of its own, and those inside them.
  ownGroups() {
    return ORDER.filter((group) => this.own.some((own) => group === own || group.startsWith(`${own}.`)));
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    if (this.state) for (const section of this.sections) section.filter(wanted);
  }

  explain({ path, key }) {
    this.help.textContent = "";
    const name = document.createElement("b");
    name.textContent = path;
    const range = key.choices.length || key.low === null || !SLIDING.has(key.kind) ? "" : ` From ${digits(key.low)} to ${digits(key.high)} ${key.unit}.`;
    this.help.append(name, ` ${key.meaning}${range}`);
  }
}

// A group: its rows, or the items of a list with theirs.
class Section {
  constructor(inspector, prefix, group, title = TITLES[group] ?? group) {
    Object.assign(this, { inspector, prefix, group, title, path: prefix + group, rows: new Map(), items: [] });
    this.list = inspector.repeated[group];
    this.element = document.createElement("details");
    this.element.dataset.group = this.path;
    this.element.open = prefix === "" && OPEN.has(group);
    const summary = document.createElement("summary");
    this.facts = document.createElement("small");
    summary.append(title, this.facts);
    this.inside = document.createElement("div");
    this.element.append(summary, this.inside);
    this.element.addEventListener("toggle", () => this.element.open && this.inspector.state && this.fill());
  }

  get count() {
    return this.inspector.state.counts[this.path] ?? 0;
  }

  show(state) {
    const given = Object.keys(state.texts).some((path) => path.startsWith(`${this.path}.`));
    this.element.classList.toggle("given", given);
    this.facts.textContent = this.list && this.count ? ` ${this.count}` : "";
    if (this.element.open) this.fill();
  }

  fill() {
    const { inspector } = this;
    const keys = this.list ? [] : inspector.keysOf(this.prefix, this.group, this.path);
    const shape = this.list ? `${this.count} items` : keys.map(({ name }) => name).join();
    if (shape !== this.shape) this.build(keys);
    this.shape = shape;
    for (const row of this.rows.values()) row.show(inspector.state, inspector.fresh);
    for (const item of this.items) item.show(inspector.state);
  }

  build(keys) {
    const focused = document.activeElement?.closest?.(".row")?.dataset.path;
    const open = new Map(this.items.map(({ path, element }) => [path, element.open]));
    this.inside.textContent = "";
    this.rows.clear();
    for (const key of keys) this.addRow(this.prefix + key.name, key);
    this.items = [];
    if (this.list) this.buildList(open);
    else if (this.canGo()) this.inside.append(this.button("Leave it all out", `${this.path}: leave it all out`, () => inspector(this).remove(this.path)));
    if (focused) this.rows.get(focused)?.entry.focus();
  }

  // Whether a group is nothing that a preset needs.
  canGo() {
    return this.path.includes(".") ? this.prefix !== "" : ["exciter", "knock", "damper", "body", "room", "barrier", "strum", "registers", "drone", "circuit"].includes(this.group);
  }

  addRow(path, key) {
    const row = new Row(path, key, this.inspector);
    this.rows.set(path, row);
    this.inside.append(row.element);
  }

  buildList(open) {
    for (let n = 0; n < this.count; n++) {
      const item = new Item(this.inspector, this, n);
      item.element.open = open.get(item.path) ?? this.count <= 2;
      this.items.push(item);
      this.inside.append(item.element);
    }
    if (this.count >= this.list.most) return;
    for (const [words, what] of this.additions())
      this.inside.append(this.button(words, `${this.path}: ${words.toLowerCase()}`, () => inspector(this).add(this.path, what)));
  }

  // Of strings the last one of a kind is copied: what it is made of may stand nowhere else.
  additions() {
    if (this.group !== "strings") return [["Add one", {}]];
    const { texts } = inspector(this).state;
    const kinds = [...Array(this.count).keys()].map((n) => (`strings.${n}.sympathetic` in texts ? "answers" : "played"));
    const like = (kind, value) => (kinds.includes(kind) ? { like: kinds.lastIndexOf(kind) } : { value });
    return [["Add a string that keys play", like("played", "")], ["Add strings that answer", like("answers", ANSWERING)]];
  }

  button(words, label, does) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "grow";
    made.textContent = words;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", does);
    return made;
  }

  // Whether anything in it is what is looked for; it is opened then.
  filter(wanted) {
    const { inspector } = this;
    let found = wanted === "";
    if (wanted) {
      const keys = inspector.keysOf(this.prefix, this.group);
      found = keys.some((key) => matches(this.prefix + key.name, key, wanted));
      if (this.group === "strings" && this.count && !found) found = inspector.ownGroups().some((own) => inspector.keysOf("", own).some((key) => matches(`strings.${key.name}`, key, wanted)));
      if (found && this.list && !this.count) found = false;
      if (found && !this.element.open) this.element.open = true;
      if (found) this.fill();
    }
    this.element.hidden = !found;
    for (const row of this.rows.values()) row.element.hidden = wanted !== "" && !matches(row.path, row.key, wanted);
    for (const item of this.items) item.filter(wanted);
  }
}

// One of a list: its keys; of one of several strings also what it may have of its own.
class Item extends Section {
  constructor(inspector, section, number) {
    super(inspector, section.prefix, section.group, `${number + 1}`);
    Object.assign(this, { path: `${section.path}.${number}`, number, list: null, children: [] });
    this.element.dataset.group = this.path;
    this.element.classList.add("item");
  }

  show(state) {
    const { texts } = state;
    const own = Object.keys(texts).filter((path) => path.startsWith(`${this.path}.`));
    this.facts.textContent = ` ${own.slice(0, 3).map((path) => texts[path]).join(", ")}`;
    this.element.classList.toggle("given", own.length > 0);
    if (this.element.open) this.fill();
  }

  fill() {
    super.fill();
    for (const child of this.children) child.show(this.inspector.state);
  }

  build(keys) {
    const open = new Set(this.children.filter(({ element }) => element.open).map(({ path }) => path));
    this.inside.textContent = "";
    this.rows.clear();
    for (const key of keys) this.addRow(`${this.path}.${key.name.split(".").at(-1)}`, key);
    this.children = this.group === "strings" ? this.inspector.ownGroups().map((group) => new Section(this.inspector, `${this.path}.`, group)) : [];
    for (const child of this.children) child.element.open = open.has(child.path);
    this.inside.append(...this.children.map(({ element }) => element));
    const list = this.path.replace(/[.]\d+$/, "");
    this.inside.append(
      this.button("Copy it", `${this.path}: copy it`, () => inspector(this).add(list, { like: this.number })),
      this.button("Remove it", `${this.path}: remove it`, () => inspector(this).remove(this.path)),
    );
  }

  filter(wanted) {
    if (wanted && this.shape === undefined) this.fill();
    const inside = this.children.map((child) => (child.filter(wanted), !child.element.hidden));
    const found = [...this.rows.values()].some(({ path, key }) => matches(path, key, wanted));
    this.element.hidden = wanted !== "" && !found && !inside.includes(true);
    if (wanted && !this.element.hidden && !this.element.open) this.element.open = true;
    for (const row of this.rows.values()) row.element.hidden = wanted !== "" && !matches(row.path, row.key, wanted);
  }
}

const inspector = (section) => section.inspector;
const matches = (path, key, wanted) => `${path} ${key.meaning}`.toLowerCase().includes(wanted);
