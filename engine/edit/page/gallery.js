// All presets as cards: a drawing of the barrier, what they are, one click to hear them.

import { Heard } from "./heard.js";
import { StringView, wholeString } from "./strings.js";

export class Gallery {
  constructor({ dialog, list, families, search, ask, open, colours, say }) {
    Object.assign(this, { dialog, list, families, search, ask, open, colours, say, family: null });
    search.addEventListener("input", () => this.filter());
    dialog.addEventListener("close", () => this.stop());
  }

  async show(current) {
    this.dialog.showModal();
    this.search.value = "";
    const { presets, error } = await this.ask("presets");
    if (error) return this.say(error, true);
    this.list.textContent = "";
    for (const preset of presets) this.list.append(this.card(preset, preset.name === current));
    this.showFamilies([...new Set(presets.filter(({ broken }) => !broken).map(({ family }) => family))].sort());
    this.filter();
    this.search.focus();
  }

  showFamilies(names) {
    if (!names.includes(this.family)) this.family = null;
    const choices = [null, ...names.filter(Boolean), ...(names.includes("") && names.length > 1 ? [""] : [])];
    this.families.replaceChildren(...choices.map((name) => {
      const word = name === null ? "All" : name || "Others";
      const choice = button(word, `Family: ${word}`, () => {
        this.family = name;
        this.filter();
      });
      choice.dataset.family = JSON.stringify(name);
      return choice;
    }));
  }

  card(preset, current) {
    const item = document.createElement("li");
    item.className = "card";
    item.dataset.family = preset.family ?? "";
    item.dataset.text = [preset.name, preset.title, preset.about, preset.family ?? "", ...(preset.tags ?? []), ...(preset.facts ?? [])].join(" ").toLowerCase();
    if (preset.scene) {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `The string of ${preset.title} and its barrier`);
      item.append(canvas);
      requestAnimationFrame(() => {
        const view = new StringView(canvas, { window: cardWindow, ruler: false });
        view.setColours(this.colours());
        view.setScene(preset.scene);
        view.swing = 1e-3;
        view.resized = () => view.draw(plucked(preset.scene));
        view.resized();
      });
    }
    const inside = document.createElement("div");
    inside.className = "in";
    const title = document.createElement("h3");
    title.textContent = preset.title;
    const about = document.createElement("p");
    about.textContent = preset.about;
    const facts = document.createElement("p");
    facts.className = "tags";
    const kind = preset.scene?.barrier ? (preset.scene.barrier.kind === "points" ? "points" : "bridge") : "free string";
    facts.textContent = [preset.own ? "your own" : "shipped", ...(preset.broken ? ["cannot be read"] : [kind, ...(preset.facts ?? [])])].join(" · ");
    const tags = document.createElement("div");
    tags.className = "does";
    for (const tag of preset.tags ?? []) tags.append(button(tag, `Presets with the tag ${tag}`, () => this.find(tag)));
    const does = document.createElement("div");
    does.className = "does";
    if (!preset.broken) {
      const hear = button("Hear", `Hear ${preset.title}`, () => this.hear(preset.name, hear));
      const open = button(current ? "Open again" : "Open", `Open ${preset.title}`, () => this.open(preset.name));
      does.append(open, hear);
    }
    inside.append(title, about, facts, tags, does);
    item.append(inside);
    return item;
  }

  find(words) {
    this.search.value = words;
    this.family = null;
    this.filter();
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const choice of this.families.children) choice.setAttribute("aria-pressed", String(choice.dataset.family === JSON.stringify(this.family)));
    for (const card of this.list.children) {
      const found = wanted.split(/\s+/).every((word) => card.dataset.text.includes(word));
      card.hidden = !found || (this.family !== null && card.dataset.family !== this.family);
    }
  }

  async hear(name, control) {
    const playing = this.playing === control;
    this.stop();
    if (playing) return;
    this.playing = control;
    control.textContent = "…";
    const heard = (this.heard = new Heard());
    for (let at = 0, last = false; !last && this.heard === heard; at++) {
      const piece = await this.ask("hear", { name, at });
      if (this.heard !== heard) return;
      if (piece.error) {
        this.stop();
        return this.say(piece.error, true);
      }
      control.textContent = "Stop";
      last = piece.last;
      await heard.play(piece, () => this.heard === heard && this.stop());
    }
  }

  stop() {
    this.heard?.end();
    this.heard = null;
    if (this.playing) this.playing.textContent = "Hear";
    this.playing = null;
  }
}

function button(word, label, does) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = word;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", does);
  return made;
}

function cardWindow(scene) {
  const whole = wholeString(scene);
  const heights = scene.barrier?.h ?? [0];
  return { ...whole, low: Math.max(Math.min(...heights, 0), -3e-3), high: 1e-3 };
}

// The shape from which a string is let go where it is plucked: a corner.
function plucked(scene) {
  const shape = new Float32Array(48);
  const at = scene.pluck;
  for (let n = 1; n <= shape.length; n++) shape[n - 1] = (2 * 8e-4 * Math.sin(n * Math.PI * at)) / (n * n * Math.PI ** 2 * at * (1 - at));
  return { strings: [{ focus: 1, nodes: false, shape, size: 48, points: 0, forces: [], key: -1, fade: 1 }] };
}
