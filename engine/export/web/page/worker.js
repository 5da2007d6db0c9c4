// A thread that designs an instrument anew for turned knobs, while the worklet plays it. It has code and image of its own,
// laid out as the worklet's are, so that what it makes can lie there as it is: addresses and all.

import { Loaded } from "./loaded.js";

let loaded = null;
let worklet = null; // the way to it
let wanted = null; // the newest values, not yet designed
let free = null; // where the worklet has room for a design, and a buffer to bring it in

function begin(parts, rate, way) {
  loaded = new Loaded(parts, rate);
  worklet = way;
  worklet.onmessage = ({ data: [at, buffer] }) => {
    free = { at, buffer: buffer ?? new ArrayBuffer(loaded.size) };
    serve();
  };
}

function serve() {
  if (!wanted || !free) return;
  const { at, buffer } = free;
  loaded.design(at, wanted);
  wanted = free = null;
  new Uint8Array(buffer).set(new Uint8Array(loaded.memory.buffer, at, loaded.size));
  worklet.postMessage([at, buffer], [buffer]);
}

self.onmessage = ({ data: [word, ...given] }) => {
  if (word === "begin") return begin(...given);
  if (!wanted) setTimeout(serve); // behind all that is told already: the newest counts
  wanted = given[0];
};
