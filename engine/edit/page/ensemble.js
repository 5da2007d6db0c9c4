// All strings of an instrument at once, each on a line of its own and as large as it swings, with the body below them.
// Knows nothing of the server: a click on a line follows its string.

import { displacements } from "./strings.js";

const LINE = new Float32Array(97);
const TALLEST = 30; // px that a line has at most
const NAME = 12; // px that a name takes: of lines that are nearer to each other not all have one

export class Ensemble {
  constructor(canvas, choose) {
    Object.assign(this, { canvas, choose, swings: new Map(), rows: [] });
    canvas.addEventListener("click", (event) => {
      const row = this.rows[Math.floor(((event.clientY - canvas.getBoundingClientRect().top) / canvas.clientHeight) * this.rows.length)];
      if (row && row.one.role !== "body") choose(row.value);
    });
  }

  setParts(parts) {
    this.parts = parts;
    this.canvas.parentElement.hidden = parts.strings.length === 0;
  }

  draw({ strings }, colours) {
    if (this.canvas.parentElement.hidden) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const g = this.canvas.getContext("2d", { alpha: false });
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = colours.sunk;
    g.fillRect(0, 0, width, height);
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    this.rows = strings.map((one) => this.row(one));
    if (!this.rows.length) {
      g.fillStyle = colours.soft;
      return g.fillText("nothing sounds", 8, height / 2);
    }
    const each = height / this.rows.length;
    const focus = this.rows.findIndex(({ one }) => one.focus);
    let named = -Infinity;
    this.rows.forEach((row, n) => {
      const clear = n === focus || ((n - named) * each >= NAME && (focus < 0 || Math.abs(n - focus) * each >= NAME));
      if (clear) named = n;
      this.drawRow(g, row, (n + 0.5) * each, Math.min(each, TALLEST), width, clear, colours);
    });
    for (const key of this.swings.keys()) if (!this.rows.some((row) => row.name === key)) this.swings.delete(key);
  }

  row(one) {
    const value = one.role === "answers" ? `a${one.string}` : `${one.key}.${one.string}`;
    return { one, value, name: one.role === "body" ? "body" : this.parts.nameOf(value, one.string > 0) };
  }

  drawRow(g, { one, name }, middle, tall, width, named, colours) {
    const body = one.role === "body";
    const from = 112;
    const shape = body ? one.shape : displacements(one, 0, 1, LINE);
    let most = 0;
    for (const value of shape) most = Math.max(most, Math.abs(value));
    const swing = Math.max(most, (this.swings.get(name) ?? 0) * 0.99, 1e-9);
    this.swings.set(name, swing);
    g.fillStyle = one.focus ? colours.ink : colours.soft;
    if (named) g.fillText(name, 6, Math.min(Math.max(middle, NAME / 2), this.canvas.clientHeight - NAME / 2));
    g.strokeStyle = one.focus ? colours.accent : body ? colours.kin : colours.ghost;
    g.lineWidth = one.focus ? 2 : 1.2;
    g.beginPath();
    if (body) for (let d = 0; d < shape.length; d++) bar(g, from, width - from - 16, middle + (d - (shape.length - 1) / 2) * 5, shape[d] / swing);
    else
      for (let n = 0; n < shape.length; n++) {
        const x = from + ((width - from - 10) * n) / (shape.length - 1);
        const y = middle - (0.45 * tall * shape[n]) / swing;
        if (n) g.lineTo(x, y);
        else g.moveTo(x, y);
      }
    g.stroke();
  }
}

// How far the bridge has gone in one direction, to the left or right of the middle.
function bar(g, from, width, y, share) {
  g.moveTo(from + width / 2, y);
  g.lineTo(from + (width / 2) * (1 + share), y);
}
