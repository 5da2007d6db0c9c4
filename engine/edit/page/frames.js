// Pictures of strings from bytes, by the names that the server told once.

export class Frames {
  constructor(layout) {
    this.layout = layout;
    this.at = Object.fromEntries(layout.picture.map((name, n) => [name, n]));
  }

  kind(buffer) {
    const kind = new Float32Array(buffer, 0, 1)[0];
    return Object.entries(this.layout.kinds).find(([, number]) => number === kind)?.[0];
  }

  // {clock, period, ..., strings: [{key, ..., shape, forces}]}; shapes are views, not copies.
  pictures(buffer) {
    const numbers = new Float32Array(buffer, 4);
    const found = { strings: [] };
    this.layout.head.forEach((name, n) => (found[name === "strings" ? "count" : name] = numbers[n]));
    let at = this.layout.head.length;
    for (let n = 0; n < found.count; n++) {
      const one = {};
      this.layout.picture.forEach((name, i) => (one[name] = numbers[at + i]));
      at += this.layout.picture.length;
      one.role = this.layout.roles[one.role];
      one.nodes = this.layout.shapes[one.kind] === "nodes";
      one.shape = numbers.subarray(at, at + one.size);
      one.forces = numbers.subarray(at + one.size, at + one.size + one.points);
      at += one.size + one.points;
      found.strings.push(one);
    }
    return found;
  }

  meter(buffer) {
    const numbers = new Float32Array(buffer, 4);
    const found = {};
    this.layout.meter.forEach((name, n) => (found[name] = numbers[n]));
    const end = this.layout.meter.length + this.layout.column;
    found.column = numbers.subarray(this.layout.meter.length, end);
    found.shares = numbers.subarray(end, end + this.layout.blocks);
    return found;
  }
}
