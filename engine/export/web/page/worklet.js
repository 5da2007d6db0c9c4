// The renderer on the browser's audio thread.

import { Renderer } from "./renderer.js";

const WARM = 300; // ms, in which nothing is heard yet // ms
const PIECE = 1 << 20; // bytes: a few tenths of a millisecond

class Instrument extends AudioWorkletProcessor {
  // `events` are [frame, bytes] in order, for a rendering; `exact` is the engine's own sound, without the limiter.
  constructor({ processorOptions: { parts, exact = false, events = [] } }) {
    super();
    this.renderer = new Renderer(parts, sampleRate);
    if (!exact) this.renderer.warm(WARM);
    this.exact = exact;
    this.events = events;
    this.next = 0;
    this.clock = 0;
    this.waiting = []; // messages for which there was no room
    this.designs = null; // the way to the worker that makes them
    this.coming = null; // the bytes of one, and how many are here
    this.fading = null; // the buffer in which they came, while what was played before is heard
    this.load = { blocks: 0, ms: 0, longest: 0 };
    this.port.onmessage = ({ data: [word, ...given] }) => this.hear(word, given);
    this.port.postMessage(["ready", this.renderer.latency]);
  }

  hear(word, given) {
    if (word === "midi") this.waiting.push(given[0]);
    else if (word === "load") this.port.postMessage(["load", this.load]);
    else if (word === "designs") this.meet(given[0]);
    else if (word === "film") this.port.postMessage(["armed", this.renderer.film(...given)]);
    else this.renderer[word](...given);
  }

  meet(worker) {
    this.designs = worker;
    worker.onmessage = ({ data: [, buffer] }) => {
      this.coming = { bytes: new Uint8Array(buffer), here: 0 };
      this.port.postMessage(["designed"]);
    };
    worker.postMessage([this.renderer.spare, null]);
  }

  // A design is brought here piece by piece, lest a block be late; then it goes on with what sounds.
  goOver() {
    const { renderer, coming } = this;
    if (this.fading && renderer.alone()) {
      this.designs.postMessage([renderer.spare, this.fading], [this.fading]);
      this.fading = null;
    }
    if (!coming) return;
    if (coming.here < coming.bytes.length) {
      const piece = coming.bytes.subarray(coming.here, coming.here + PIECE);
      new Uint8Array(renderer.memory.buffer, renderer.spare + coming.here).set(piece);
      coming.here += piece.length;
    } else if (renderer.follow()) {
      this.fading = coming.bytes.buffer;
      this.coming = null;
      this.port.postMessage(["followed", this.clock]);
    }
  }

  process(_, [out]) {
    const begun = Date.now(); // there is no finer clock here
    const [left, right] = out;
    const span = left.length;
    this.goOver();
    while (this.waiting.length && this.renderer.send(this.waiting[0])) this.waiting.shift();
    for (; this.next < this.events.length; this.next++) {
      const [frame, data] = this.events[this.next];
      if (frame >= this.clock + span || !this.renderer.send(data, frame - this.clock)) break;
    }
    this.renderer.run(left, right, !this.exact);
    this.clock += span;
    for (const picture of this.renderer.seen()) this.port.postMessage(["picture", picture.buffer], [picture.buffer]);
    const took = Date.now() - begun;
    this.load.blocks += 1;
    this.load.ms += took;
    this.load.longest = Math.max(this.load.longest, took);
    return true;
  }
}

registerProcessor("jawari", Instrument);
