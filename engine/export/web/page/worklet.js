// The renderer on the browser's audio thread.

import { Renderer } from "./renderer.js";

class Instrument extends AudioWorkletProcessor {
  // `events` are [frame, bytes] in order, for a rendering; `exact` is the engine's own sound, without the limiter.
  constructor({ processorOptions: { parts, exact = false, events = [] } }) {
    super();
    this.renderer = new Renderer(parts, sampleRate);
    this.exact = exact;
    this.events = events;
    this.next = 0;
    this.clock = 0;
    this.waiting = []; // messages for which there was no room
    this.load = { blocks: 0, ms: 0, longest: 0 };
    this.port.onmessage = ({ data: [word, ...given] }) => this.hear(word, given);
    this.port.postMessage(["ready", this.renderer.latency]);
  }

  hear(word, given) {
    if (word === "midi") this.waiting.push(given[0]);
    else if (word === "load") this.port.postMessage(["load", this.load]);
    else if (word === "film") this.port.postMessage(["armed", this.renderer.film(...given)]);
    else this.renderer[word](...given);
  }

  process(_, [out]) {
    const begun = Date.now(); // there is no finer clock here
    const [left, right] = out;
    const span = left.length;
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
