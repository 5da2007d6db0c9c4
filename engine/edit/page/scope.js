// Energies, spectrogram, level and load: small drawings of what goes on.

function fit(canvas) {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const [width, height] = [canvas.clientWidth || 200, canvas.clientHeight || 100];
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d", { alpha: false });
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [g, width, height];
}

const SECONDS = 6;
const RANGE = 90; // dB

// Moving, bent, in contact, as they share what the string has; the sum falls from left to right in decibels.
export class Energies {
  constructor(canvas, said) {
    Object.assign(this, { canvas, said, past: [] });
  }

  add(focus, all = []) {
    const now = performance.now() / 1e3;
    const held = { answers: 0, body: 0 };
    for (const { role, kinetic, potential, stored } of all) if (role in held) held[role] += kinetic + potential + stored;
    this.past.push(focus ? [now, focus.kinetic, focus.potential, focus.stored] : [now, 0, 0, 0]);
    while (this.past.length && this.past[0][0] < now - SECONDS) this.past.shift();
    const sum = focus ? focus.kinetic + focus.potential + focus.stored : 0;
    if (this.past.length % 12 === 0) this.said.textContent = said(sum, held);
  }

  draw(colours) {
    const [g, width, height] = fit(this.canvas);
    g.fillStyle = colours.sunk;
    g.fillRect(0, 0, width, height);
    if (!this.past.length) return;
    const last = this.past.at(-1)[0];
    let most = 1e-9;
    for (const [, k, p, c] of this.past) most = Math.max(most, k + p + c);
    this.top = Math.max(most, (this.top ?? most) * 0.999);
    const x = (time) => width - ((last - time) / SECONDS) * width;
    const y = (energy) => Math.min(height, (-10 * Math.log10(Math.max(energy, 1e-20) / this.top) / RANGE) * (height - 8) + 6);
    const area = (of, colour) => {
      g.beginPath();
      g.moveTo(x(this.past[0][0]), height);
      for (const entry of this.past) g.lineTo(x(entry[0]), y(of(entry)));
      g.lineTo(x(last), height);
      g.fillStyle = colour;
      g.fill();
    };
    area(([, k, p, c]) => k + p + c, colours.barrier);
    area(([, k]) => k, colours.kin);
    area(([, , , c]) => c, colours.touch);
    g.font = "12px system-ui, sans-serif";
    let at = 8;
    for (const [word, colour] of [["bent", colours.soft], ["moving", colours.kin], ["contact", colours.touch]]) {
      g.fillStyle = colours.sunk;
      g.globalAlpha = 0.7;
      g.fillRect(at - 3, 4, g.measureText(word).width + 6, 15);
      g.globalAlpha = 1;
      g.fillStyle = colour;
      g.fillText(word, at, 15);
      at += g.measureText(word).width + 14;
    }
  }
}

// Of the string in focus; and of what moves with it, where strings share a body.
function said(sum, { answers, body }) {
  const parts = sum > 1e-12 ? [joules(sum)] : [];
  if (answers > 1e-12) parts.push(`answering ${joules(answers)}`);
  if (body > 1e-12) parts.push(`body ${joules(body)}`);
  return parts.join(", ");
}

function joules(value) {
  const [size, unit] = value >= 1e-3 ? [1e3, "mJ"] : value >= 1e-6 ? [1e6, "µJ"] : [1e9, "nJ"];
  return `${(value * size).toPrecision(3)} ${unit}`;
}

// A column for each picture of the spectrum, in a ring; the newest is at the right.
export class Spectrogram {
  constructor(canvas, layout) {
    Object.assign(this, { canvas, layout });
    this.columns = 260;
    this.store = document.createElement("canvas");
    this.store.width = this.columns;
    this.store.height = layout.column;
    this.ink = this.store.getContext("2d", { alpha: false });
    this.column = this.ink.createImageData(1, layout.column);
    this.at = 0;
  }

  setColours({ ramp }) {
    this.palette = ramp;
    this.ink.fillStyle = `rgb(${ramp[0]},${ramp[1]},${ramp[2]})`;
    this.ink.fillRect(0, 0, this.columns, this.layout.column);
  }

  add(column) {
    const { data } = this.column;
    const count = this.layout.column;
    for (let n = 0; n < count; n++) {
      const level = Math.min(Math.max(1 - column[n] / this.layout.floor, 0), 1);
      const c = 3 * Math.round(level ** 1.3 * 255);
      const at = 4 * (count - 1 - n);
      data[at] = this.palette[c];
      data[at + 1] = this.palette[c + 1];
      data[at + 2] = this.palette[c + 2];
      data[at + 3] = 255;
    }
    this.ink.putImageData(this.column, this.at, 0);
    this.at = (this.at + 1) % this.columns;
  }

  draw(colours) {
    const [g, width, height] = fit(this.canvas);
    const split = ((this.columns - this.at) / this.columns) * width;
    const rows = this.layout.column;
    g.drawImage(this.store, this.at, 0, this.columns - this.at, rows, 0, 0, split, height);
    if (this.at) g.drawImage(this.store, 0, 0, this.at, rows, split, 0, width - split, height);
    g.font = "12px system-ui, sans-serif";
    g.fillStyle = colours.soft;
    const { lowest, highest } = this.layout;
    for (const hertz of [100, 1000, 10_000]) {
      const y = height * (1 - Math.log(hertz / lowest) / Math.log(highest / lowest));
      g.fillText(hertz >= 1000 ? `${hertz / 1000} kHz` : `${hertz} Hz`, 5, y + 4);
    }
  }
}

const SHARES = 160; // blocks whose load is shown

export class Meters {
  constructor(canvas, said) {
    Object.assign(this, { canvas, said, held: [0, 0], shares: new Float32Array(SHARES), newest: 0 });
  }

  set(reading) {
    this.reading = reading;
    for (const share of reading.shares) if (share >= 0) this.shares[this.newest++ % SHARES] = share;
    [reading.left, reading.right].forEach((level, n) => (this.held[n] = Math.max(level, this.held[n] - 0.35)));
    const lost = reading.lost > 0 ? `, ${reading.lost} late` : "";
    const said = `${Math.round(100 * reading.load)} % load, ${reading.strings} of ${reading.polyphony} strings${lost}`;
    if (this.said.textContent !== said) this.said.textContent = said;
  }

  draw(colours) {
    const [g, width, height] = fit(this.canvas);
    g.fillStyle = colours.sunk;
    g.fillRect(0, 0, width, height);
    const r = this.reading;
    if (!r) return;
    g.font = "12px system-ui, sans-serif";
    const bar = (n, name, share, peak, colour) => {
      const top = 5 + n * 17;
      g.fillStyle = colours.soft;
      g.fillText(name, 8, top + 10);
      g.fillStyle = colours.edge;
      g.fillRect(64, top + 2, width - 76, 9);
      g.fillStyle = colour;
      g.fillRect(64, top + 2, (width - 76) * Math.min(Math.max(share, 0), 1), 9);
      g.fillRect(64 + (width - 76) * Math.min(Math.max(peak, 0), 1) - 1, top, 2, 13);
    };
    const level = (db) => (db + 60) / 60;
    bar(0, "left", level(r.left), level(this.held[0]), r.left > -6 ? colours.touch : colours.kin);
    bar(1, "right", level(r.right), level(this.held[1]), r.right > -6 ? colours.touch : colours.kin);
    bar(2, "load", r.load, r.most, r.most > 0.8 ? colours.touch : colours.accent);
    bar(3, "strings", r.strings / Math.max(r.polyphony, 1), 0, colours.accent);
    this.drawBlocks(g, 77, width - 76, height - 82, colours);
  }

  // The load of each block, a bar each, the newest at the right; the line above them is the block's deadline.
  drawBlocks(g, top, width, height, colours) {
    g.fillStyle = colours.soft;
    g.fillText("blocks", 8, top + 10);
    g.fillStyle = colours.edge;
    g.fillRect(64, top, width, 1);
    const each = width / SHARES;
    for (let n = 0; n < Math.min(SHARES, this.newest); n++) {
      const share = Math.min(this.shares[(this.newest - 1 - n) % SHARES], 1);
      g.fillStyle = share > 0.8 ? colours.touch : colours.accent;
      g.fillRect(64 + width - (n + 1) * each, top + height * (1 - share), Math.max(each - 0.5, 0.5), height * share);
    }
  }
}
