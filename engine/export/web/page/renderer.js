// The renderer: WebAssembly's memory, messages into it, frames out of it. Knows neither page nor worklet.

import { Loaded } from "./loaded.js";

const LONGEST = 8192; // frames that are rendered at once

export class Renderer extends Loaded {
  constructor(parts, rate) {
    super(parts, rate);
    this.open();
    this.message = this.room(4);
    this.left = this.room(4 * LONGEST);
    this.right = this.room(4 * LONGEST);
    this.latency = this.call.jawari_latency(this.at);
    this.bytes = new Uint8Array(this.memory.buffer, this.message, 3);
    this.words = new Int32Array(this.memory.buffer);
    this.floats = new Float32Array(this.memory.buffer);
    this.doubles = new Float64Array(this.memory.buffer);
  }

  reset() {
    this.call.jawari_reset(this.at);
  }

  // Browsers compile what is called for the first time, and make it fast once it has been called often: so many
  // milliseconds of notes that nobody hears, and all is as it was.
  warm(milliseconds) {
    const sides = [new Float32Array(128), new Float32Array(128)];
    const end = Date.now() + milliseconds;
    for (let n = 0; Date.now() < end; n++) {
      if (n % 4 === 0) this.send([n % 8 ? 0x80 : 0x90, 40 + ((5 * n) % 48), 100]);
      if (n % 4 === 1) this.send([0xb0, 1, n % 128]);
      this.run(...sides, true);
      if (n === 64 && this.places.designs) {
        this.design(this.spare, new Array(this.places.designs).fill(NaN));
        this.follow();
      }
    }
    this.reset();
  }

  // A message for a frame from now; false if it must be sent again once some have been rendered.
  send(data, frame = 0) {
    for (let n = 0; n < 3; n++) this.bytes[n] = data[n] ?? 0;
    return this.call.jawari_send(this.at, frame, this.message, data.length) === 1;
  }

  turn(parameter, value) {
    return this.call.jawari_turn(this.at, parameter, value) === 1;
  }

  take(part) {
    return this.call.jawari_take(this.at, part) === 1;
  }

  // Go on with the design in the spare memory; false if that has to wait.
  follow() {
    if (this.call.jawari_follow(this.spare, this.at) !== 1) return false;
    const asked = this.asked();
    [this.at, this.spare] = [this.spare, this.at];
    this.ask(asked);
    return true;
  }

  // Whether nothing is heard any more of what was played before that, whose memory is the spare one now.
  alone() {
    return this.call.jawari_alone(this.at) === 1;
  }

  // The next frames into two arrays, as the engine renders them, or as live play has them: limited, and watched.
  run(left, right, live) {
    for (let done = 0; done < left.length; done += LONGEST) {
      const span = Math.min(LONGEST, left.length - done);
      (live ? this.call.jawari_perform : this.call.jawari_run)(this.at, span, this.left, this.right);
      if (this.sounds?.[0].length !== span) this.sounds = [this.left, this.right].map((at) => new Float32Array(this.memory.buffer, at, span));
      left.set(this.sounds[0], done);
      right.set(this.sounds[1], done);
    }
  }

  // --- pictures of strings, by the names of the engine's own table ------------------------------------------------------

  get pictures() {
    return this.at + this.words[(this.at + this.places.pictures) / 4];
  }

  word(name) {
    return (this.pictures + this.places.capture[name]) / 4;
  }

  set(name, value) {
    this.words[this.word(name)] = value;
    this.words[this.word(name) + 1] = value < 0 ? -1 : 0;
  }

  // What is asked for, for pictures to go on in another memory: a film that was being taken waits for the next pluck.
  asked() {
    const { empty, armed, full } = this.places.states;
    const word = (name) => this.words[this.word(name)];
    const film = [empty, full].includes(word("film")) ? empty : armed;
    return { watching: word("watching"), focus: word("focus"), length: word("length"), film, slip: this.doubles[this.word("slip") / 2] };
  }

  ask({ slip, ...asked }) {
    this.strobe(slip);
    this.set("born", -1);
    for (const [name, value] of Object.entries(asked)) this.set(name, value);
  }

  watch(on) {
    this.set("watching", on ? 1 : 0);
  }

  focus(key) {
    this.set("focus", key);
  }

  strobe(slip) {
    this.doubles[this.word("slip") / 2] = slip;
  }

  // Wait for the next pluck and film it; false while a film is being taken.
  film(length) {
    const { states } = this.places;
    const state = this.words[this.word("film")];
    if (state !== states.empty && state !== states.armed) return false;
    this.set("length", length);
    this.set("born", -1);
    this.set("film", states.armed);
    return true;
  }

  // What has been seen since this was last asked: numbers as frames.js reads them.
  seen() {
    const { places } = this;
    const found = [];
    for (let n = this.words[this.word("read")]; n < this.words[this.word("written")]; n++) {
      const start = this.array("slots") + (n % places.looks) * places.slot;
      found.push(this.copy(places.kinds.look, [[start, this.looked(start)]]));
      this.set("read", n + 1);
    }
    if (this.words[this.word("film")] === places.states.full) {
      const start = this.array("frames");
      const rows = [[start, places.head]];
      for (let n = 0; n < this.floats[start]; n++) {
        const row = start + places.head + n * places.largest;
        rows.push([row, this.sized(row)]);
      }
      this.set("film", places.states.empty);
      if (rows.length > 1) found.push(this.copy(places.kinds.film, rows));
    }
    return found;
  }

  // Where an array of a Capture begins, in floats: it says how far from itself.
  array(name) {
    return (this.pictures + this.words[this.word(name)]) / 4;
  }

  sized(row) {
    const { picture, size, points } = this.places;
    return picture + this.floats[row + size] + this.floats[row + points];
  }

  looked(start) {
    let at = start + this.places.head;
    for (let n = 0; n < this.floats[start]; n++) at += this.sized(at);
    return at - start;
  }

  copy(kind, rows) {
    const made = new Float32Array(rows.reduce((sum, [, count]) => sum + count, 1));
    made[0] = kind;
    let at = 1;
    for (const [start, count] of rows) {
      made.set(this.floats.subarray(start, start + count), at);
      at += count;
    }
    return made;
  }
}
