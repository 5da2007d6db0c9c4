// The strings of an instrument as its scene lists them: what they are called, and which of them a picture shows.

import { noteName } from "./units.js";

const nearest = (hz) => noteName(Math.round(69 + 12 * Math.log2(hz / 440)));

export class Parts {
  constructor(scene) {
    this.whole = scene;
    this.strings = scene.strings ?? [];
    this.answers = this.strings.flatMap(({ answers }, part) => (answers ?? []).map((one) => ({ ...one, part })));
    this.fretted = this.strings.flatMap(({ mono }, part) => (mono ? [part] : []));
  }

  get names() {
    return this.strings.map(({ keys, answers }, n) => {
      if (answers) return `${n + 1}: answers`;
      return keys[0] === keys[1] ? `${n + 1}: ${noteName(keys[0])}` : `${n + 1}: ${noteName(keys[0])} to ${noteName(keys[1])}`;
    });
  }

  // What is drawn of one of them; of a string by itself all there is.
  scene(n) {
    return this.strings[n] ? { ...this.whole, ...this.strings[n] } : this.whole;
  }

  // The number of the string in a picture; -1 if there are not several, or if it is the body.
  of({ role, string, line, key }) {
    if (role === "answers") return this.answers[string]?.part ?? -1;
    if (role === "body") return -1;
    if (line) return this.fretted[line - 1] ?? -1;
    let before = 0;
    for (let n = 0; n < this.strings.length; n++) {
      const { keys, mono, courses } = this.strings[n];
      if (!keys || mono || key < keys[0] || key > keys[1]) continue;
      before += courses;
      if (string < before) return n;
    }
    return -1;
  }

  lengthOf({ role, string }) {
    return role === "answers" ? this.answers[string]?.length : 0;
  }

  // [name, value] of what can be followed: a key, one of its strings, a string that answers.
  choices(strings) {
    const several = new Set(strings.filter(({ string, role }) => role === "played" && string > 0).map(({ key }) => key));
    const found = new Map();
    for (const { role, key, string } of strings) {
      if (role === "body") continue;
      const value = role === "answers" ? `a${string}` : `${key}.${string}`;
      if (role === "answers" || string === 0 || several.has(key)) found.set(value, this.nameOf(value, several.has(key)));
    }
    return [...found].map(([value, name]) => [name, value]).sort(([, a], [, b]) => order(a) - order(b));
  }

  nameOf(value, several) {
    if (value[0] === "a") return this.answers[+value.slice(1)] ? `answers ${nearest(this.answers[+value.slice(1)].hz)}, ${+value.slice(1) + 1}` : value;
    const [key, string] = value.split(".").map(Number);
    return several || string ? `${noteName(key)}, ${string + 1}` : noteName(key);
  }

  // Key, number and pace (Hz, of what no key plays) of a choice.
  wish(value) {
    if (value[0] === "a") return [-1, +value.slice(1), this.answers[+value.slice(1)]?.hz ?? 0];
    const [key, string] = value.split(".").map(Number);
    return [key, string || 0, 0];
  }
}

const order = (value) => (value[0] === "a" ? 1e6 + +value.slice(1) : value.split(".").reduce((sum, part) => 100 * sum + +part, 0));
