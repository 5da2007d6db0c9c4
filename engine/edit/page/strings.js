// Strings drawn over their barrier, the whole length or a part of it, each with its scale. Knows nothing of the server:
// it is given a scene (what stands where, in metres) and pictures (modes or nodes, forces).

const FINE = 512; // points of a line
const sines = new Float32Array(4 * FINE);
for (let n = 0; n < sines.length; n++) sines[n] = Math.sin((2 * Math.PI * n) / sines.length);

// Displacements at `count` places from `from` to `to`, fractions of the length, into `out`.
export function displacements(picture, from, to, out) {
  const { shape, nodes } = picture;
  const count = out.length;
  if (nodes) {
    for (let i = 0; i < count; i++) {
      const x = (from + ((to - from) * i) / (count - 1)) * (shape.length - 1);
      const k = Math.max(Math.min(Math.floor(x), shape.length - 2), 0);
      out[i] = shape[k] + (x - k) * (shape[k + 1] - shape[k]);
    }
    return out;
  }
  out.fill(0);
  const whole = from === 0 && to === 1;
  for (let m = 0; m < shape.length; m++) {
    const size = shape[m];
    if (Math.abs(size) < 1e-9) continue;
    if (whole && count === FINE + 1) {
      // sin(n pi i / FINE) is an entry of the table: no sine is taken
      for (let i = 0; i < count; i++) out[i] += size * sines[(2 * (m + 1) * i) & (sines.length - 1)];
    } else {
      const step = ((m + 1) * Math.PI * (to - from)) / (count - 1);
      const turn = 2 * Math.cos(step);
      let a = Math.sin((m + 1) * Math.PI * from - step);
      let b = Math.sin((m + 1) * Math.PI * from);
      for (let i = 0; i < count; i++) {
        out[i] += size * b;
        const next = turn * b - a;
        a = b;
        b = next;
      }
    }
  }
  return out;
}

const line = new Float32Array(FINE + 1);

export class StringView {
  // `window(scene)` gives what is seen: {from, to} in metres, and {low, high} or null: as high as it swings.
  constructor(canvas, { window, loupe = false, ruler = true }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.window = window;
    this.loupe = loupe;
    this.ruler = ruler;
    this.swing = 1e-4;
    this.ghosts = [];
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = this.canvas.clientWidth || 600;
    this.height = this.canvas.clientHeight || 240;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.changed?.();
    this.resized?.();
  }

  setScene(scene) {
    this.scene = scene;
    this.seen = this.window(scene);
    this.ghosts = [];
    this.changed?.();
  }

  setColours(colours) {
    this.colours = colours;
  }

  get pad() {
    return this.loupe ? 54 : 26;
  }

  x(metres) {
    const { from, to } = this.seen;
    return this.pad + ((metres - from) / (to - from)) * (this.width - 2 * this.pad);
  }

  y(metres) {
    const { low, high } = this.limits();
    return this.height - 26 - ((metres - low) / (high - low)) * (this.height - 50);
  }

  metresX(px) {
    const { from, to } = this.seen;
    return from + ((px - this.pad) / (this.width - 2 * this.pad)) * (to - from);
  }

  metresY(px) {
    const { low, high } = this.limits();
    return low + ((this.height - 26 - px) / (this.height - 50)) * (high - low);
  }

  limits() {
    const { low, high } = this.seen;
    const swing = this.swing;
    if (low === undefined) return { low: -1.25 * swing, high: 1.25 * swing };
    return { low: Math.min(low, -0.2 * swing), high: Math.max(high, this.loupe ? Math.min(swing, 3 * (high - low)) : swing) };
  }

  lengthOf(picture) {
    return picture.length || this.lengths?.[picture.key] || this.scene.length;
  }

  draw(look) {
    if (!this.scene || !this.colours) return;
    const strings = (look?.strings ?? []).filter(({ role }) => role !== "body");
    const focus = strings.find((s) => s.focus) ?? strings[0];
    this.measure(focus);
    const g = this.context;
    g.fillStyle = this.colours.sunk;
    g.fillRect(0, 0, this.width, this.height);
    this.drawBarrier();
    if (this.ruler) this.drawRuler();
    for (const other of strings) if (other !== focus) this.drawString(other, this.colours.ghost, 1, 0.75);
    if (focus) {
      if (this.loupe) this.drawGhosts(focus);
      this.drawString(focus, this.colours.ink, 2, 1);
      this.drawForces(focus);
    } else this.drawRest();
  }

  measure(focus) {
    if (!focus) return;
    const length = this.lengthOf(focus);
    const from = Math.max(this.seen.from / length, 0);
    const to = Math.min(this.seen.to / length, 1);
    displacements(focus, from, to, line);
    let most = 0;
    for (let i = 0; i < line.length; i++) most = Math.max(most, Math.abs(line[i]));
    const wanted = Math.max(most * 1.1, 2e-5);
    const before = this.swing;
    this.swing = wanted > this.swing ? wanted : Math.max(wanted, this.swing * 0.995);
    if (Math.abs(Math.log(before / this.swing)) > 1e-3) this.changed?.();
  }

  path(picture) {
    const g = this.context;
    const length = this.lengthOf(picture);
    const from = Math.max(this.seen.from, 0);
    const to = Math.min(this.seen.to, length);
    displacements(picture, from / length, to / length, line);
    g.beginPath();
    const { low, high } = this.limits();
    const ground = this.height - 26;
    const scale = (this.height - 50) / (high - low);
    for (let i = 0; i < line.length; i++) {
      const px = this.x(from + ((to - from) * i) / (line.length - 1));
      const py = ground - (line[i] - low) * scale;
      if (i) g.lineTo(px, py);
      else g.moveTo(px, py);
    }
  }

  drawString(picture, colour, width, alpha) {
    const g = this.context;
    g.save();
    g.globalAlpha = alpha * Math.min(Math.max(picture.fade ?? 1, 0.15), 1);
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.lineJoin = "round";
    this.path(picture);
    g.stroke();
    g.restore();
  }

  // Where the string was a little before: the last looks, ever fainter.
  drawGhosts(focus) {
    this.ghosts.push({ ...focus, shape: Float32Array.from(focus.shape) });
    if (this.ghosts.length > 7) this.ghosts.shift();
    this.ghosts.slice(0, -1).forEach((ghost, n) => {
      if (ghost.key === focus.key) this.drawString(ghost, this.colours.accent, 1, 0.06 * (n + 1));
    });
  }

  drawRest() {
    const g = this.context;
    g.strokeStyle = this.colours.ghost;
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(this.x(Math.max(this.seen.from, 0)), this.y(0));
    g.lineTo(this.x(Math.min(this.seen.to, this.scene.length)), this.y(0));
    g.stroke();
  }

  drawBarrier() {
    const { barrier } = this.scene;
    const g = this.context;
    if (barrier?.kind === "surface") {
      g.beginPath();
      g.moveTo(this.x(barrier.x[0]), this.height);
      barrier.x.forEach((x, n) => g.lineTo(this.x(x), this.y(barrier.h[n])));
      g.lineTo(this.x(barrier.x.at(-1)), this.height);
      g.closePath();
      g.fillStyle = this.colours.barrier;
      g.fill();
      g.beginPath();
      barrier.x.forEach((x, n) => (n ? g.lineTo(this.x(x), this.y(barrier.h[n])) : g.moveTo(this.x(x), this.y(barrier.h[n]))));
      g.strokeStyle = this.colours.accent;
      g.lineWidth = 2;
      g.stroke();
    }
    if (barrier?.kind === "points") {
      g.fillStyle = this.colours.barrier;
      g.strokeStyle = this.colours.accent;
      g.lineWidth = 2;
      barrier.x.forEach((x, n) => {
        const px = this.x(x);
        const py = Math.min(Math.max(this.y(barrier.h[n]), -10), this.height + 10);
        g.fillRect(px - 3, py, 6, this.height - py + 10);
        g.beginPath();
        g.moveTo(px - 5, py);
        g.lineTo(px + 5, py);
        g.stroke();
      });
    }
    // the ends
    g.fillStyle = this.colours.edgeStrong;
    for (const end of [0, this.scene.length]) {
      if (end < this.seen.from - 1e-9 || end > this.seen.to + 1e-9) continue;
      const px = this.x(end);
      const py = this.y(0);
      g.beginPath();
      g.moveTo(px, py);
      g.lineTo(px - 6, py + 12);
      g.lineTo(px + 6, py + 12);
      g.closePath();
      g.fill();
    }
  }

  // Where it pushes: light on the place, and an arrow as long as the force's root.
  drawForces(picture) {
    const { barrier } = this.scene;
    if (!barrier || !picture.points) return;
    let most = 0;
    for (const force of picture.forces) most = Math.max(most, force);
    this.hardest = Math.max(most, (this.hardest ?? 0) * 0.97, 1e-6);
    if (!most) return;
    const g = this.context;
    const places = barrier.kind === "points" ? barrier.x : barrier.points;
    for (let k = 0; k < picture.points; k++) {
      const share = Math.sqrt(picture.forces[k] / this.hardest);
      if (!(share > 0.02)) continue;
      const at = this.placeOf(k, picture.points, places);
      const px = this.x(at);
      const py = this.y(this.heightAt(at));
      const size = (this.loupe ? 70 : 34) * share;
      g.globalAlpha = 0.25 + 0.7 * share;
      g.strokeStyle = g.fillStyle = this.colours.touch;
      g.lineWidth = 2;
      g.beginPath();
      g.moveTo(px, py);
      g.lineTo(px, py - size);
      g.moveTo(px - 4, py - size + 6);
      g.lineTo(px, py - size);
      g.lineTo(px + 4, py - size + 6);
      g.stroke();
      g.beginPath();
      g.arc(px, py, 3 + 4 * share, 0, 7);
      g.fill();
      g.globalAlpha = 1;
    }
  }

  placeOf(k, count, places) {
    if (places.length === count) return places[k];
    return places[Math.min(Math.floor(((k + 0.5) * places.length) / count), places.length - 1)] ?? 0;
  }

  heightAt(x) {
    const { barrier } = this.scene;
    let best = 0;
    for (let n = 1; n < barrier.x.length; n++) if (Math.abs(barrier.x[n] - x) < Math.abs(barrier.x[best] - x)) best = n;
    return barrier.h[best];
  }

  drawRuler() {
    const g = this.context;
    const { from, to } = this.seen;
    const { low, high } = this.limits();
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    g.lineWidth = 1;
    g.strokeStyle = this.colours.edge;
    g.fillStyle = this.colours.soft;
    g.textAlign = "center";
    const step = nice((to - from) / 7);
    for (let x = Math.ceil(from / step) * step; x <= to + 1e-9; x += step) {
      g.beginPath();
      g.moveTo(this.x(x), this.height - 20);
      g.lineTo(this.x(x), this.height - 15);
      g.stroke();
      const label = step >= 0.01 ? `${Math.round(x * 100)} cm` : `${+(x * 1e3).toFixed(step < 1e-3 ? 1 : 0)} mm`;
      g.fillText(label, this.x(x), this.height - 8);
    }
    g.textAlign = "left";
    const tall = nice((high - low) / 4);
    for (let y = Math.ceil(low / tall) * tall; y <= high + 1e-12; y += tall) {
      g.globalAlpha = Math.abs(y) < 1e-12 ? 1 : 0.45;
      g.beginPath();
      g.moveTo(0, this.y(y));
      g.lineTo(this.width, this.y(y));
      g.stroke();
      g.globalAlpha = 1;
      const shown = Math.abs(y) < 1e-12 ? "0" : tall < 1e-5 ? `${+(y * 1e6).toPrecision(2)} µm` : `${+(y * 1e3).toPrecision(3)} mm`;
      if (this.y(y) > 10 && this.y(y) < this.height - 24) g.fillText(shown, 5, this.y(y) - 8);
    }
  }
}

// 1, 2 or 5 times a power of ten, at least as large.
function nice(size) {
  const power = 10 ** Math.floor(Math.log10(Math.max(size, 1e-12)));
  return power * [1, 2, 5, 10].find((n) => n * power >= size);
}

export const wholeString = (scene) => ({ from: -0.01 * scene.length, to: 1.01 * scene.length });

// The part of the string over the barrier, and as high as the barrier asks for.
export function aroundBarrier(scene) {
  const { barrier, length } = scene;
  if (!barrier) return { from: -0.002 * length, to: 0.12 * length, low: -1e-4, high: 1e-4 };
  const first = Math.min(...barrier.x);
  const last = Math.max(...barrier.x);
  const span = Math.max(last - first, barrier.kind === "points" ? 0.012 * length : 0.004);
  const low = Math.min(...barrier.h, 0);
  const high = Math.max(...barrier.h, 0);
  const tall = Math.max(high - low, 1e-4);
  return {
    from: Math.max(first - 0.12 * span, -0.02 * span),
    to: Math.min(last + 0.35 * span, length * 1.01),
    low: low - 0.12 * tall,
    high: high + 0.55 * tall,
  };
}
