// Puts the page together: what the server says goes to the drawings, what hands do goes to the server.

import { barrierHandles, stringHandles } from "./dragged.js";
import { Dialogs } from "./dialogs.js";
import { Ensemble } from "./ensemble.js";
import { Frames } from "./frames.js";
import { Gallery } from "./gallery.js";
import { Handles } from "./handles.js";
import { Inspector } from "./inspector.js";
import { Keyboard } from "./keys.js";
import { Line } from "./line.js";
import { Mapped } from "./mapped.js";
import { webMidi } from "./midi.js";
import { PagePlayer } from "./player.js";
import { Energies, Meters, Spectrogram } from "./scope.js";
import { Stage } from "./stage.js";
import { Theme } from "./theme.js";
import { Wheels } from "./wheels.js";

const $ = (id) => document.getElementById(id);
const dialogs = new Dialogs({
  said: $("said"), ask: $("ask"), text: $("ask-text"), entry: $("ask-entry"), name: $("ask-name"), error: $("ask-error"), yes: $("ask-yes"),
});
const say = (words, bad) => dialogs.say(words, bad);

let state = null;
let frames = null;
let spectrogram = null;

// --- the line -----------------------------------------------------------------------------------------------------------

const line = new Line({ open, event, bytes, closed, refused: (words) => lose(words) });
const ask = (word, fields) => line.ask(word, fields);

async function granted(word, fields) {
  const answer = await ask(word, fields);
  if (answer.error) say(answer.error, true);
  return answer;
}

function lose(words) {
  $("lost").textContent = words;
  $("lost").hidden = !words;
}

function open(hello) {
  lose("");
  frames = new Frames(hello.frames);
  if (!spectrogram) {
    spectrogram = new Spectrogram($("spectrogram"), hello.frames);
    spectrogram.setColours(theme.colours);
  }
  inspector.begin(hello);
  mapped.begin(hello);
  showAround(hello.around);
  show(hello.state);
  if (player) listen();
}

function closed() {
  lose("The editor is not there; this page comes back when it does. The sound, if it goes on, is not lost.");
  stage.nothing();
}

function event(said) {
  if (said.event === "state") show(said);
  if (said.event === "around") showAround(said);
  if (said.event === "played") played(said);
  if (said.event === "heard") document.body.dataset.heard = `${said.what} ${said.ms}`;
  if (said.event === "refused") say(said.error, true);
  if (said.event === "said") say(said.text);
}

function bytes(buffer) {
  const kind = frames?.kind(buffer);
  if (kind === "look") {
    const look = frames.pictures(buffer);
    energies.add(look.strings.find((s) => s.focus), look.strings);
    stage.look(look);
  } else if (kind === "film") stage.film(frames.pictures(buffer));
  else if (kind === "meter") {
    const reading = frames.meter(buffer);
    meters.set(reading);
    spectrogram.add(reading.column);
    sounded = true;
  } else if (kind === "sound") player?.play(buffer);
}

// --- drawings -----------------------------------------------------------------------------------------------------------

const stage = new Stage($, {
  focus: (key, string, pace) => ask("focus", { key, string, pace }),
  strobe: (slip) => ask("strobe", { slip }),
  film: async () => stage.armed((await granted("film", { length: 256 })).armed),
});
const onWhole = new Handles(stage.whole, $("whole-view"));
const onLoupe = new Handles(stage.loupe, $("loupe-view"));
stage.shown = () => drawStrings(true);
const all = new Ensemble($("all"), (value) => stage.choose(value));
const energies = new Energies($("energy"), $("energy-said"));
const meters = new Meters($("meters"), $("load-said"));
const theme = new Theme($("theme"), (colours) => {
  stage.setColours(colours);
  spectrogram?.setColours(colours);
});
let sounded = false;
let drawn = 0;
let before = performance.now();

function frame(now) {
  requestAnimationFrame(frame);
  const seconds = Math.min((now - before) / 1e3, 0.1);
  before = now;
  const { colours } = theme;
  if (state) {
    stage.draw(seconds);
    all.draw(stage.newest, colours);
  }
  energies.draw(colours);
  meters.draw(colours);
  if (sounded) spectrogram.draw(colours);
  sounded = false;
  drawn += 1;
  document.body.dataset.frames = drawn;
}

// --- the preset ---------------------------------------------------------------------------------------------------------

// Of a hand that moves on, only the last wish waits: the server is never asked faster than it answers.
const wishes = new Map();

// What looks at the whole preset comes after all that was wished for before it: an undo that overtook the end of a
// drag would take back a part of it, and the rest would be set again.
async function settled() {
  while (wishes.size) await Promise.all([...wishes.values()].map(({ done }) => done));
}

async function afterWishes(word, fields) {
  await settled();
  return granted(word, fields);
}

function set(path, value, gesture = 0) {
  const wish = wishes.get(path);
  if (wish) {
    Object.assign(wish, { value, gesture });
    return (wish.next ??= new Promise((resolve) => (wish.resolve = resolve)));
  }
  const mine = {};
  wishes.set(path, mine);
  return (mine.done = ask("set", { path, value, gesture }).then((answer) => {
    wishes.delete(path);
    if (mine.next) set(path, mine.value, mine.gesture).then(mine.resolve);
    return answer;
  }));
}

const setFromDrawing = (path, value, gesture) => set(path, value, gesture).then(({ error }) => error && say(error.split("\n")[0], true));
const inspector = new Inspector({
  box: $("rows"),
  search: $("find-key"),
  help: $("help"),
  set,
  remove: (path) => settled().then(() => granted("remove", { path })),
  add: (path, what) => afterWishes("add", { path, ...what }),
});
const mapped = new Mapped({ body: $("map-rows"), ask, say });

function show(said) {
  const other = state?.name !== said.name;
  const before = state;
  state = said;
  $("name").textContent = state.title;
  $("star").textContent = state.changed ? "✱" : "";
  $("title").setAttribute("aria-label", `${state.title}${state.changed ? ", changed" : ""}: all presets`);
  $("about").textContent = $("about").title = state.about;
  document.title = `${state.changed ? "✱ " : ""}${state.title} · Jawari`;
  enable($("undo"), state.undo, "Undo");
  enable($("redo"), state.redo, "Redo");
  $("revert").disabled = !state.changed;
  const isB = state.side === "B";
  $("side").innerHTML = isB ? "<span>A</span><b>B</b>" : "<b>A</b><span>B</span>";
  $("side").setAttribute("aria-label", `Side ${state.side} is heard; hear side ${isB ? "A" : "B"}`);
  $("record").setAttribute("aria-pressed", String(state.recording));
  $("record").querySelector(".word").textContent = state.recording ? "Stop" : "Record";
  if (other) keyboard.show(...reach(state));
  stage.setScene(state.scene);
  all.setParts(stage.parts);
  drawStrings(other || JSON.stringify(before.scene) !== JSON.stringify(state.scene), other);
  inspector.show(state);
  mapped.show(state);
}

// The string that is drawn, with what can be dragged of it. While a barrier is dragged the loupe stays where it is: what
// is held must not run away.
function drawStrings(changed, other) {
  const { loupe, whole, drawn } = stage;
  const there = { ...state, scene: drawn };
  whole.setScene(drawn);
  onWhole.set(stringHandles(there, setFromDrawing));
  if (!changed) return;
  const { seen } = loupe;
  loupe.setScene(drawn);
  if (!other && onLoupe.held) loupe.seen = seen;
  onLoupe.set(barrierHandles(there, setFromDrawing));
}

// The first and the last of four octaves of keys: those of a bass lie lower.
function reach({ scene, derived }) {
  const played = (scene.strings ?? []).flatMap(({ keys }) => keys ?? []);
  if (!played.length) played.push(Math.round(69 + 12 * Math.log2(derived["string.tuned"] / 440)));
  const low = Math.min(...played);
  const first = low < 36 && Math.max(...played) < 84 ? 12 * Math.max(Math.floor(low / 12), 0) : 36;
  return [first, first + 48];
}

function enable(button, what, word) {
  button.disabled = !what;
  button.title = what ? `${word}: ${what}` : `${word}: nothing`;
}

async function move(word) {
  const { what, error } = await afterWishes(word);
  if (!error && what) say(`${word === "undo" ? "Undone" : "Done again"}: ${what}`);
}

async function openPreset(name) {
  let answer = await afterWishes("open", { name });
  if (answer.ask) {
    if (!(await dialogs.confirm(`${answer.ask}. Open another one all the same?`, "Open"))) return;
    answer = await granted("open", { name, lose: true });
  }
  if (!answer.error) gallery.dialog.close();
}

async function save() {
  await settled();
  const take = async (name) => {
    let answer = await ask("save", { name });
    if (answer.ask) {
      if (!(await dialogs.confirm(answer.ask, "Replace"))) return "choose another name";
      answer = await ask("save", { name, replace: true });
    }
    if (!answer.error) say(`Saved as ${answer.saved}`);
    return answer.error ?? "";
  };
  if (state.own) {
    const error = await take(state.name);
    if (error) say(error, true);
  } else await dialogs.naming("Save among your own presets, where every command finds it by this name.", "Save", `my ${state.name}`, take);
}

async function record() {
  const { said, recording, folder } = await granted("record", { on: !state.recording });
  if (recording) say(`Recording ${recording}`);
  if (said) say(`${said}, in ${folder}`);
}

async function share() {
  const { name, text } = await afterWishes("text");
  if (text === undefined) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/yaml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const gallery = new Gallery({ dialog: $("gallery"), list: $("cards"), families: $("families"), search: $("search"), ask, open: openPreset, colours: () => theme.colours, say });
$("title").addEventListener("click", () => gallery.show(state?.name));
$("undo").addEventListener("click", () => move("undo"));
$("redo").addEventListener("click", () => move("redo"));
$("revert").addEventListener("click", () => afterWishes("revert"));
$("side").addEventListener("click", () => afterWishes("switch"));
$("save").addEventListener("click", save);
$("record").addEventListener("click", record);
$("share").addEventListener("click", share);
$("silence").addEventListener("click", () => granted("silence"));
$("mapped").addEventListener("click", () => $("map").showModal());
addEventListener("keydown", (pressed) => {
  const word = pressed.ctrlKey || pressed.metaKey ? pressed.key.toLowerCase() : pressed.key === "Escape" ? "escape" : "";
  if (document.querySelector("dialog[open]")) return;
  const does = { z: () => move(pressed.shiftKey ? "redo" : "undo"), y: () => move("redo"), s: save, b: () => afterWishes("switch") }[word];
  if (word === "escape" && !pressed.target.matches?.("input")) granted("silence");
  if (!does || (word === "z" && pressed.target.matches?.("input[type=text],input[type=search]"))) return;
  pressed.preventDefault();
  does();
});

// --- playing ------------------------------------------------------------------------------------------------------------

const keyboard = new Keyboard($("keys"), (key, velocity) => ask("note", { key, velocity }));
const wheels = new Wheels($, {
  bend: (value) => ask("bend", { value }),
  controller: (number, value) => ask("controller", { number, value }),
  pressure: (value) => ask("pressure", { value }),
});
$("webmidi").addEventListener("click", () => webMidi((data) => ask("midi", { data }), say));

// What is played elsewhere shows here; nobody reads it out.
function played({ notes = [], controllers = {}, bends = {}, pressures = {} }) {
  for (const [key, velocity] of notes) keyboard.mark(key, velocity > 0);
  for (const [place, value] of Object.entries(controllers)) {
    const number = place.split(":")[1];
    mapped.moved(number, value);
    wheels.showController(Number(number), value);
  }
  for (const value of Object.values(bends)) wheels.showBend(value);
  for (const value of Object.values(pressures)) wheels.showPressure(value);
}

let player = null;

function showAround({ device, card, rate, block, latency, ports }) {
  const where = card ? device || "waiting for the sound card" : `${device}: heard in this page`;
  const ms = card && latency ? `, ${(latency * 1e3).toFixed(0)} ms` : "";
  $("device").textContent = `${where}; ${rate / 1000} kHz, blocks of ${block}${ms}${ports.length ? `; ${ports.join(", ")}` : ""}`;
  $("listen").hidden = card;
}

async function listen() {
  const { rate, channels, error } = await granted("sound", { on: true });
  if (error) return;
  await player?.end();
  player = new PagePlayer();
  await player.begin(rate, channels);
  $("listen").textContent = "Heard here";
  $("listen").disabled = true;
}

$("listen").addEventListener("click", listen);
requestAnimationFrame(frame);
