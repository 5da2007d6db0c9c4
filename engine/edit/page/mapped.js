// What controllers move, as a table; one moves here as its controller does.

import { digits } from "./units.js";

export class Mapped {
  constructor({ body, ask, say }) {
    Object.assign(this, { body, ask, say, positions: new Map() });
  }

  begin({ movable, controllers }) {
    Object.assign(this, { movable, names: controllers });
  }

  show(state) {
    this.body.textContent = "";
    this.meters = [];
    for (const [path, { name, effect }] of Object.entries(this.movable)) {
      const map = state.map.find((entry) => entry.to === path);
      const row = document.createElement("tr");
      const title = document.createElement("th");
      title.scope = "row";
      title.textContent = name;
      title.title = `${path}. ${effect}`;
      const source = map?.source ?? "";
      const called = this.names[source.slice(2)] ?? "";
      const ends = map ? [map.low, map.high].map((end) => shown(end, map.unit)) : ["", ""];
      row.append(title, cell(source && (called ? `${source} (${called})` : source)), cell(ends[0]), cell(ends[1]));
      const meter = document.createElement("meter");
      meter.max = 127;
      meter.setAttribute("aria-label", `Where the controller of ${name} stands`);
      meter.value = this.positions.get(source.slice(2)) ?? 0;
      if (map) this.meters.push([source.slice(2), meter]);
      const now = document.createElement("td");
      if (map) now.append(meter);
      const learn = document.createElement("button");
      const learning = state.learning === path;
      learn.textContent = learning ? "Move one …" : "Learn";
      learn.setAttribute("aria-pressed", String(learning));
      learn.setAttribute("aria-label", `Learn what moves ${name}`);
      learn.addEventListener("click", () => this.learn(path, !learning));
      const does = document.createElement("td");
      does.append(learn);
      row.append(now, does);
      this.body.append(row);
    }
  }

  async learn(path, on) {
    const { error } = await this.ask("learn", { path, on });
    if (error) this.say(error, true);
  }

  moved(number, value) {
    this.positions.set(number, value);
    for (const [of, meter] of this.meters ?? []) if (of === number) meter.value = value;
  }
}

function cell(words) {
  const made = document.createElement("td");
  made.textContent = words;
  return made;
}

function shown(value, unit) {
  const [name, factor] = { m: ["mm", 1e3], s: ["ms", 1e3] }[unit] ?? [unit, 1];
  return `${digits(value * factor, 3)} ${name}`.trim();
}
