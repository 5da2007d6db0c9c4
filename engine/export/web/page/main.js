// The page around an exported instrument: sound from a worklet, everything else from the editor's own modules.

import { Dialogs } from "./dialogs.js";
import { Frames } from "./frames.js";
import { Keyboard } from "./keys.js";
import { Dials } from "./dials.js";
import { webMidi } from "./midi.js";
import { bestRate, instrumentNode, missing } from "./node.js";
import { redrawn } from "./redrawn.js";
import { Stage } from "./stage.js";
import { Theme } from "./theme.js";
import { Wheels } from "./wheels.js";

const $ = (id) => document.getElementById(id);
const data = window.jawariData;
const dialogs = new Dialogs({ said: $("said") });
const say = (words, bad) => dialogs.say(words, bad);
const frames = new Frames(data.frames);
const designs = new Map(); // values that the instrument is to be designed for, by key
const wished = new Map(); // what was chosen before there was any sound
let node = null;
let volume = null;
let context = null;
let beginning = null;
let part = Math.max(data.first, 0);

// --- sound --------------------------------------------------------------------------------------------------------------

// Browsers let sound begin in a gesture only: this is called in each, and does something in the first.
function begin() {
  beginning ??= start().catch((error) => {
    beginning = null;
    lose(error.message);
  });
  if (context?.state === "suspended") context.resume();
  return beginning;
}

async function start() {
  const why = missing();
  if (why) throw new Error(why);
  context = new AudioContext({ sampleRate: bestRate(data), latencyHint: "interactive" });
  const resumed = context.resume();
  context.onstatechange = showState;
  volume = new GainNode(context, { gain: loudness() });
  volume.connect(context.destination);
  node = await instrumentNode(context, data, { told });
  node.connect(volume);
  for (const words of wished.values()) tell(...words);
  await resumed;
  showState();
}

// To the worklet; what is set before there is one waits for it, notes do not.
function tell(word, ...given) {
  if (node && word === "design") node.design(...given);
  else if (node) node.port.postMessage([word, ...given]);
  else if (word !== "midi") wished.set(`${word} ${given.length > 1 ? given[0] : ""}`, [word, ...given]);
}

function told(word, ...given) {
  if (word === "picture") picture(given[0]);
  else if (word === "armed") stage.armed(given[0]);
  else if (word === "load") document.body.dataset.load = JSON.stringify(given[0]);
  else if (word === "followed") document.body.dataset.designs = Number(document.body.dataset.designs || 0) + 1;
  else if (word === "undesigned") say(`Knobs that design anew are not heard: ${given[0]}.`, true);
  else if (word === "broken") lose("The renderer has stopped: open this page again.");
}

async function play(...bytes) {
  await begin();
  tell("midi", bytes);
}

function lose(words) {
  $("lost").textContent = words;
  $("lost").hidden = !words;
  $("begin").disabled = Boolean(words);
}

function showState() {
  const on = context?.state === "running";
  $("begin").textContent = on ? "Sound is on" : "Turn the sound on";
  $("begin").setAttribute("aria-pressed", String(on));
  document.body.dataset.sound = context?.state ?? "none";
  const ms = on ? `, ${((context.baseLatency + (context.outputLatency || 0)) * 1e3).toFixed(0)} ms` : "";
  $("device").textContent = on ? `${context.sampleRate / 1000} kHz${ms}` : "";
}

async function turnOnOrOff() {
  if (context?.state === "running") await context.suspend();
  else await begin();
}

const loudness = () => 10 ** (Number($("volume").value) / 20);
$("begin").addEventListener("click", turnOnOrOff);
$("volume").addEventListener("input", () => {
  $("volume").setAttribute("aria-valuetext", `${$("volume").value} dB`);
  volume?.gain.setTargetAtTime(loudness(), context.currentTime, 0.02);
});

// --- the strings --------------------------------------------------------------------------------------------------------

const stage = new Stage($, {
  focus: (key) => tell("focus", key),
  strobe: (slip) => tell("strobe", slip),
  film: () => begin().then(() => tell("film", 256)),
});
const theme = new Theme($("theme"), (colours) => stage.setColours(colours));
let drawn = 0;
let before = performance.now();

function picture(buffer) {
  const found = frames.pictures(buffer);
  if (frames.kind(buffer) === "film") return stage.film(found);
  const focus = found.strings.find((string) => string.focus);
  if (focus && focus.part !== part) show(focus.part);
  found.strings = found.strings.filter((string) => string.part === part);
  stage.look(found);
}

function frame(now) {
  requestAnimationFrame(frame);
  stage.draw(Math.min((now - before) / 1e3, 0.1));
  before = now;
  document.body.dataset.frames = drawn += 1;
}

function show(number) {
  part = number;
  const { name, about, lengths } = data.parts[part];
  $("name").textContent = name;
  $("about").textContent = about;
  $("program").value = part;
  stage.setLengths(lengths);
  draw();
}

function draw() {
  const { scene, own } = data.parts[part];
  const now = redrawn(scene, own, designs);
  stage.setScene(now);
  for (const view of stage.views) view.setScene(now);
}

function design({ key, number }, value) {
  designs.set(key, value);
  draw();
  tell("design", number, value);
}

for (const [number, { name }] of data.parts.entries()) $("program").append(new Option(name, number));
$("programs").hidden = data.parts.length < 2;
$("program").addEventListener("change", () => {
  show(Number($("program").value));
  tell("take", part);
});

// --- hands --------------------------------------------------------------------------------------------------------------

const keyboard = new Keyboard($("keys"), (key, velocity) => play(velocity ? 0x90 : 0x80, key, velocity || 64));
keyboard.show(...shownKeys(data.keys));
new Wheels($, {
  bend: (value) => play(0xe0, (value + 8192) & 0x7f, (value + 8192) >> 7),
  controller: (number, value) => play(0xb0, number, value),
  pressure: (value) => play(0xd0, value),
});
new Dials($("dials"), data.dials, ({ number }, value) => tell("turn", number, value));
new Dials($("dials"), data.designs, design);
$("nothing").hidden = data.dials.length + data.designs.length > 0;
$("silence").addEventListener("click", silence);
addEventListener("keydown", ({ key }) => key === "Escape" && silence());
$("webmidi").addEventListener("click", () => webMidi((hex) => play(...hex.match(/../g).map((byte) => parseInt(byte, 16))), say));

// Four octaves, on a narrow screen two, of the keys that there are.
function shownKeys([low, high]) {
  const [from, to] = innerWidth < 700 ? [48, 72] : [36, 84];
  const first = Math.max(Math.min(from, high - (to - from)), low);
  return [first, Math.min(Math.max(to, first), high)];
}

function silence() {
  for (let channel = 0; channel < 16; channel++) tell("midi", [0xb0 | channel, 120, 0]);
}

show(part);
showState();
lose(missing());
tell("watch", true);
tell("strobe", Number($("slip").value));
document.title = `${data.name} · Jawari`;
requestAnimationFrame(frame);
window.jawari = { data, instrumentNode };
