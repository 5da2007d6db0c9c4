// Knobs that an instrument is designed anew for: a worker designs, and brings each design to the worklet by a way of
// their own. The worker is made when a knob is first turned.

export class Designer {
  // Of a node of the worklet, by what its page's data say; `told("undesigned", why)` hears if it cannot be done.
  constructor(node, data, parts, told) {
    Object.assign(this, { node, data, parts, told, worker: null });
    this.values = data.designs.map(() => NaN); // the preset's own
  }

  turn(number, value) {
    const dial = this.data.designs[number];
    if (!dial) return;
    const own = Math.abs(value - dial.own) <= 1e-9 * (dial.high - dial.low); // but for rounding
    this.values[number] = own ? NaN : value;
    try {
      this.worker ??= this.hire();
      this.worker.postMessage(["values", this.values]);
    } catch (error) {
      this.told("undesigned", error.message);
    }
  }

  hire() {
    // A page that is a file may start no other file as a worker, but it may start what it has itself.
    const address = URL.createObjectURL(new Blob([this.data.worker], { type: "text/javascript" }));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    const { port1, port2 } = new MessageChannel();
    worker.onerror = ({ message }) => this.told("undesigned", message ?? "no worker can be started");
    worker.postMessage(["begin", this.parts, this.node.context.sampleRate, port1], [port1]);
    this.node.port.postMessage(["designs", port2], [port2]);
    return worker;
  }
}
