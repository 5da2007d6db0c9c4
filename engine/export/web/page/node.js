// An exported instrument as a node of Web Audio, for this page and for any other that has its data.

import { Designer } from "./designer.js";

// Why there can be no sound here, in a sentence; or nothing.
export function missing() {
  if (!globalThis.WebAssembly) return "This browser has no WebAssembly, which the sound needs: take a newer one.";
  if (!globalThis.AudioContext) return "This browser has no Web Audio, which the sound needs: take a newer one.";
  if (!globalThis.AudioWorkletNode || !globalThis.isSecureContext)
    return "There is no AudioWorklet here, which the sound needs: open this page as a file, from this machine or by https, in a browser of 2021 or later.";
  if (!globalThis.DecompressionStream) return "This browser cannot unpack the instrument (it has no DecompressionStream): take one of 2023 or later.";
  return "";
}

// The sample rate to ask for: the device's own where the instrument can have it; without rates it can have any.
export function bestRate(data) {
  const probe = new AudioContext();
  const own = probe.sampleRate;
  probe.close();
  return data.rates.length === 0 || data.rates.includes(own) ? own : data.rates[0];
}

// Bytes of a text that was packed and written in base64.
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

const here = document.currentScript?.src || document.baseURI;

// Another script from where this one lies.
function added(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(name, here);
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${name} is not beside the page: keep its files together.`));
    document.head.append(script);
  });
}

// What a renderer is made of: the code for this browser, and the image.
async function partsOf(data) {
  const { places } = data;
  const image = await unpacked(data.image);
  for (const kind of ["simd", "plain"]) {
    if (!(kind in data.code)) await added(`${kind}.js`);
    const code = await unpacked(data.code[kind]);
    if (WebAssembly.validate(code)) return { kind, code, image, places: { ...places, stack: data.stacks[kind] } };
  }
  throw new Error("This browser cannot run the renderer's code: take a newer one.");
}

let unpacking = null;

// A node at the context's sample rate, which must be one of the data's, if these are not for any. `told(word, ...)` hears
// what it says; its `design(number, value)` turns one of the knobs that all strings are designed anew for.
export async function instrumentNode(context, data, { told = () => {}, ...options } = {}) {
  const parts = await (unpacking ??= partsOf(data));
  // A page that is a file may load no other file as a module, nor a blob: the module is in its own address.
  await context.audioWorklet.addModule(`data:text/javascript,${encodeURIComponent(data.worklet)}`);
  const node = new AudioWorkletNode(context, "jawari", { numberOfInputs: 0, outputChannelCount: [2], processorOptions: { parts, ...options } });
  node.port.onmessage = ({ data: [word, ...given] }) => told(word, ...given);
  const designer = new Designer(node, data, parts, told);
  node.design = (number, value) => designer.turn(number, value);
  node.onprocessorerror = () => told("broken");
  return node;
}
