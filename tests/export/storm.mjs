// Sends an exported page's instrument whatever comes, and looks whether it minds: storm.mjs DATA.JS CODE RATE MESSAGES OPENINGS
//
// As storm.c does: finite sound always, an image that is not written to, and after a reset the note of a new instrument.

import { argv, exit } from "node:process";
import { rendererOf } from "./perform.mjs";

const [file, code, rate, messages, openings] = argv.slice(2);
const make = () => rendererOf(file, code, Number(rate));
const LONGEST = 8192;
let state = 12345;
let loud = 0; // blocks of which some sample is not silent
let blocks = 0;

function chance(below) { // mulberry32
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

function number() {
  if (chance(4) === 0) return [NaN, Infinity, -Infinity, 1e300, -1e300, 5e-324, -0][chance(7)];
  return (chance(2000001) - 1e6) * 10 ** (chance(12) - 12);
}

function message(renderer, frames) {
  let at = chance(frames); // one that is far off has all that come later wait for it
  if (chance(50) === 0) at = chance(2 ** chance(16));
  if (chance(20000) === 0) at = chance(2 ** 32) >>> chance(32);
  let data = Array.from({ length: chance(8) }, () => chance(256));
  if (chance(20)) {
    data = chance(2) ? [0x80 | chance(112), chance(128), chance(128)] : [0x80 | (chance(2) << 4) | chance(16), 30 + chance(60), chance(128)];
    if ((data[0] & 0xe0) === 0xc0) data.pop();
  }
  renderer.send(data, at);
}

function run(renderer, frames) {
  const sides = [new Float32Array(frames), new Float32Array(frames)];
  renderer.run(...sides, chance(2) === 1);
  if (!sides.every((side) => side.every(Number.isFinite))) exit(7);
  renderer.seen();
  loud += sides[0].some((sample) => sample !== 0) ? 1 : 0;
  blocks += 1;
}

function note(renderer) {
  renderer.send([0x90, 55, 100]);
  const sides = [new Float32Array(3000), new Float32Array(3000)];
  renderer.run(...sides, false);
  return sides.map((side) => side.join()).join();
}

const renderer = make();
const fresh = note(renderer);
for (let sent = 0; sent < Number(messages); ) {
  const frames = 1 + (chance(LONGEST) >> chance(13));
  for (let n = chance(100); n > 0; n--, sent++) message(renderer, frames);
  if (chance(3) === 0) renderer.turn(chance(8) - 2, number());
  if (chance(9) === 0) renderer.take(chance(6) - 2);
  if (chance(20) === 0) renderer.watch(chance(2) === 1);
  if (chance(20) === 0) renderer.film(1 + chance(600));
  if (chance(400) === 0) renderer.reset();
  run(renderer, frames);
}
if (3 * loud < blocks) exit(13); // a storm that nobody hears proves nothing
for (let n = 0; n < Number(openings); n++) {
  if (chance(2)) renderer.reset();
  else renderer.open();
  message(renderer, 64);
  run(renderer, 1 + chance(64));
}
renderer.reset();
if (note(renderer) !== fresh) exit(11);
if (note(make()) !== fresh) exit(12);
renderer.open(); // which looks at the image's sum
