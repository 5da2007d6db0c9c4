// A keyboard: by mouse, by touch, by the computer's keys. Knows nothing of the server: `note(key, velocity)` plays.

import { noteName } from "./units.js";

const BLACK = new Set([1, 3, 6, 8, 10]);
const COMPUTER = ["KeyA", "KeyW", "KeyS", "KeyE", "KeyD", "KeyF", "KeyT", "KeyG", "KeyY", "KeyH", "KeyU", "KeyJ", "KeyK", "KeyO", "KeyL", "KeyP"];

export class Keyboard {
  constructor(box, note) {
    Object.assign(this, { box, note });
    this.buttons = new Map();
    this.pointers = new Map();
    this.typed = new Map();
    this.octave = 4;
    this.show(36, 84);
    box.addEventListener("pointerdown", (event) => this.press(event));
    box.addEventListener("pointermove", (event) => this.pointers.has(event.pointerId) && this.slide(event));
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, (event) => this.lift(event.pointerId));
    addEventListener("keydown", (event) => this.down(event));
    addEventListener("keyup", (event) => this.up(event.code));
    addEventListener("blur", () => this.letGo());
    document.addEventListener("focusin", ({ target }) => isField(target) && this.letGo());
  }

  show(first, last) {
    this.box.textContent = "";
    this.buttons.clear();
    const whites = [];
    for (let key = first; key <= last; key++) if (!BLACK.has(key % 12)) whites.push(key);
    const width = 100 / whites.length;
    const entered = Math.min(Math.max(54, first), last);
    for (let key = first; key <= last; key++) {
      const black = BLACK.has(key % 12);
      const button = document.createElement("button");
      const before = whites.filter((white) => white < key).length;
      button.className = black ? "b" : "w";
      button.style.left = `${before * width - (black ? width * 0.3 : 0)}%`;
      button.style.width = `${width * (black ? 0.6 : 1)}%`;
      button.dataset.key = key;
      button.tabIndex = key === entered ? 0 : -1;
      button.setAttribute("aria-label", noteName(key));
      if (key % 12 === 0) button.innerHTML = `<span>${noteName(key)}</span>`;
      button.addEventListener("keydown", (event) => this.walk(event, key));
      this.buttons.set(key, button);
      this.box.append(button);
    }
  }

  // Arrows walk over the keys, space and enter pluck.
  walk(event, key) {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 12, ArrowDown: -12 }[event.key];
    if (by) {
      event.preventDefault();
      const next = this.buttons.get(key + by);
      if (!next) return;
      this.buttons.get(key).tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else if ((event.key === " " || event.key === "Enter") && !event.repeat) {
      event.preventDefault();
      this.play(key, 96);
      const end = () => (this.end(key), removeEventListener("keyup", end));
      addEventListener("keyup", end);
    }
  }

  keyAt(event) {
    const button = document.elementFromPoint(event.clientX, event.clientY);
    return this.box.contains(button) && button.dataset.key ? Number(button.dataset.key) : null;
  }

  // The lower on a key, the harder.
  velocity(event, key) {
    const box = this.buttons.get(key).getBoundingClientRect();
    const share = Math.min(Math.max((event.clientY - box.top) / box.height, 0), 1);
    return Math.round(45 + 75 * share);
  }

  press(event) {
    const key = this.keyAt(event);
    if (key === null) return;
    event.preventDefault();
    this.box.setPointerCapture?.(event.pointerId);
    this.pointers.set(event.pointerId, key);
    this.play(key, this.velocity(event, key));
  }

  slide(event) {
    const key = this.keyAt(event);
    const before = this.pointers.get(event.pointerId);
    if (key === before) return;
    this.end(before);
    this.pointers.set(event.pointerId, key);
    if (key !== null) this.play(key, this.velocity(event, key));
  }

  lift(pointer) {
    if (!this.pointers.has(pointer)) return;
    this.end(this.pointers.get(pointer));
    this.pointers.delete(pointer);
  }

  down(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isField(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.code === "KeyZ" || event.code === "KeyX") {
      this.octave = Math.min(Math.max(this.octave + (event.code === "KeyX" ? 1 : -1), 0), 8);
      return;
    }
    const place = COMPUTER.indexOf(event.code);
    if (place < 0 || this.typed.has(event.code)) return;
    const key = 12 * (this.octave + 0) + place;
    this.typed.set(event.code, key);
    this.play(key, event.shiftKey ? 120 : 96);
  }

  up(code) {
    if (!this.typed.has(code)) return;
    this.end(this.typed.get(code));
    this.typed.delete(code);
  }

  letGo() {
    for (const code of [...this.typed.keys()]) this.up(code);
    for (const pointer of [...this.pointers.keys()]) this.lift(pointer);
  }

  play(key, velocity) {
    this.mark(key, true);
    this.note(key, velocity);
  }

  end(key) {
    if (key === null || key === undefined) return;
    this.mark(key, false);
    this.note(key, 0);
  }

  mark(key, down) {
    this.buttons.get(key)?.classList.toggle("down", down);
  }
}

function isField(element) {
  return element?.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");
}
