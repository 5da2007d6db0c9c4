// Plays what an exported page plays, in node: perform.mjs DATA.JS CODE RATE EVENTS FRAMES HOW BLOCK... > SOUND
//
// CODE is simd or plain; EVENTS are rows of (frame, bytes of a message), 64 bits each; HOW is exact, live, warmed: live
// after what a worklet plays to itself, or watched: live with pictures taken, which must not be heard. SOUND is the left
// channel, then the right one. After the blocks there may be `--` and [[frame, values], ...]: from where on the instrument
// may go on in a design of these values, made as the page's worker makes it; it says when it did.

import { readFileSync } from "node:fs";
import { argv, cpuUsage, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

// The page's own renderer, from the text that its worklet is made of; or another class of that text.
export function rendererOf(file, code, rate, what = "renderer.Renderer") {
  const shown = JSON.parse(readFileSync(file, "utf8").replace(/^[^{]*/, "").replace(/;\s*$/, ""));
  const plain = readFileSync(file.replace(/data\.js$/, "plain.js"), "utf8").match(/"(.*)"/);
  shown.code.plain = plain[1];
  const inside = `${shown.worklet}; return module_${what};`;
  const Renderer = new Function("AudioWorkletProcessor", "registerProcessor", inside)(class {}, () => {});
  const bytes = (text) => new Uint8Array(gunzipSync(Buffer.from(text, "base64")));
  const places = { ...shown.places, stack: shown.stacks[code] };
  return new Renderer({ code: bytes(shown.code[code]), image: bytes(shown.image), places }, rate);
}

// A design is made and brought: here are the memories of the worklet and of the worker.
function bring(renderer, worker, values) {
  if (!renderer.alone()) throw new Error("what was played before is still heard");
  worker.design(renderer.spare, values.map((value) => value ?? NaN));
  new Uint8Array(renderer.memory.buffer, renderer.spare, worker.size).set(new Uint8Array(worker.memory.buffer, renderer.spare, worker.size));
}

function perform([file, code, rate, events, frames, how, ...more]) {
  const renderer = rendererOf(file, code, Number(rate));
  const blocks = more.includes("--") ? more.slice(0, more.indexOf("--")) : more;
  const designs = more.length > blocks.length ? JSON.parse(more.at(-1)) : [];
  const worker = designs.length ? rendererOf(file, code, Number(rate), "loaded.Loaded") : null;
  if (how === "warmed") renderer.warm(300);
  if (how === "watched") renderer.watch(true), renderer.film(64);
  const count = Number(frames);
  const sides = [new Float32Array(count), new Float32Array(count)];
  const rows = new BigInt64Array(new Uint8Array(readFileSync(events)).buffer);
  const seen = { 0: 0, 1: 0 };
  const followed = [];
  let next = 0;
  let brought = false;
  const begun = cpuUsage().user;
  for (let at = 0, turn = 0; at < count; turn++) {
    if (designs[0]?.[0] === at) bring(renderer, worker, designs.shift()[1]), (brought = true);
    if (brought && renderer.follow()) followed.push(at), (brought = false);
    const span = Math.min(Number(blocks[turn % blocks.length]), (designs[0]?.[0] ?? count) - at);
    for (; next < rows.length && Number(rows[next]) < at + span; next += 2) {
      const word = Number(rows[next + 1]);
      const message = [word & 255, (word >> 8) & 255, (word >> 16) & 255];
      if ((word & 0xe0) === 0xc0) message.pop();
      if (!renderer.send(message, Number(rows[next]) - at)) throw new Error("no room for a message");
    }
    renderer.run(sides[0].subarray(at, at + span), sides[1].subarray(at, at + span), how !== "exact");
    for (const picture of renderer.seen()) seen[picture[0]] += 1;
    at += span;
  }
  const seconds = (cpuUsage().user - begun) / 1e6;
  stderr.write(JSON.stringify({ seconds, latency: renderer.latency, looks: seen[0], films: seen[1], followed }));
  for (const side of sides) stdout.write(new Uint8Array(side.buffer));
}

if (argv[1] === fileURLToPath(import.meta.url)) perform(argv.slice(2));
