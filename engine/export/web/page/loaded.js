// An exported instrument's code and image in a memory of WebAssembly's, which is laid out alike wherever they are loaded.

const BORDER = 64; // bytes
const WHY = { "-1": "it is damaged", "-2": "it was made by another version", "-3": "it was not made for this sample rate", "-4": "its memory is misplaced" };

export class Loaded {
  // `code` and `image` are bytes, `places` says where in memory what stands, and how many designs an instrument has.
  constructor({ code, image, places }, rate) {
    this.places = places;
    this.end = places.stack;
    this.memory = new WebAssembly.Memory({ initial: Math.ceil(places.stack / 65536) });
    const env = {
      __linear_memory: this.memory,
      __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, places.stack),
      __indirect_function_table: new WebAssembly.Table({ initial: 0, element: "anyfunc" }),
      fmod: (a, b) => a % b, // exact, as C's is
    };
    this.call = new WebAssembly.Instance(new WebAssembly.Module(code), { env }).exports;
    const there = this.room(image.length);
    new Uint8Array(this.memory.buffer).set(image, there);
    this.image = [there, image.length, rate];
    this.size = this.granted(this.call.jawari_size(...this.image));
    this.at = this.room(this.size);
    this.spare = places.designs ? this.room(this.size) : 0; // where designs are made that are gone over to
    this.values = this.room(8 * places.designs);
  }

  // So many bytes on a border of their own; memory never moves once all is made.
  room(size) {
    const start = Math.ceil(this.end / BORDER) * BORDER;
    this.end = start + size;
    const more = Math.ceil((this.end - this.memory.buffer.byteLength) / 65536);
    if (more > 0) this.memory.grow(more);
    return start;
  }

  // Have an instrument in one of the two memories; NaN is the preset's own value.
  design(at, values) {
    new Float64Array(this.memory.buffer, this.values, values.length).set(values);
    this.granted(this.call.jawari_redesign(at, ...this.image, this.values));
  }

  open() {
    this.granted(this.call.jawari_open(this.at, ...this.image));
  }

  granted(code) {
    if (code < 0) throw new Error(`The instrument cannot be opened: ${WHY[code] ?? code}.`);
    return code;
  }
}
