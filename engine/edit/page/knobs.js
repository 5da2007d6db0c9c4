// A slider on a scale that suits its quantity. Knows nothing of the server: `turned(value, gesture)` hears of it.

const STEPS = 1000;

// The scale of a key: linear where its range is short, logarithmic where it spans decades, around a value where neither
// end means anything.
export function scaleOf({ low, high, usual }, around) {
  const ends = usual && usual[1] !== null && usual[0] > 0 ? usual : null;
  const size = Math.abs(around) || (ends ? Math.sqrt(ends[0] * ends[1]) : 1);
  if (low !== null && high !== null && high - low <= 100 && !ends) return linear(low, high);
  if (low !== null && low >= 0) {
    const bottom = Math.max(low, size / 30);
    const top = Math.min(high ?? Infinity, Math.max(size * 30, bottom * 10));
    return logarithmic(bottom, top, low === 0);
  }
  const reach = ends ? Math.max(2 * size, 20 * ends[0]) : 2.5 * size;
  return linear(Math.max(low ?? -Infinity, -reach), Math.min(high ?? Infinity, reach));
}

function linear(low, high) {
  return { to: (place) => low + (high - low) * place, from: (value) => (value - low) / (high - low) };
}

export function logarithmic(low, high, zero) {
  const span = Math.log(high / low);
  return {
    to: (place) => (zero && place < 0.004 ? 0 : low * Math.exp(span * place)),
    from: (value) => (value <= 0 ? 0 : Math.log(value / low) / span),
  };
}

export class Slider {
  constructor(input, turned) {
    this.input = input;
    this.turned = turned;
    input.type = "range";
    input.min = 0;
    input.max = STEPS;
    input.step = 1;
    input.addEventListener("pointerdown", (event) => this.begin(event));
    input.addEventListener("input", () => this.turn());
    for (const name of ["change", "pointerup"]) input.addEventListener(name, () => (this.gesture = 0));
    input.addEventListener("wheel", (event) => this.roll(event), { passive: false });
  }

  set(scale, value, said) {
    this.scale = scale;
    this.value = value;
    if (!this.gesture) this.input.value = Math.round(STEPS * Math.min(Math.max(scale.from(value), 0), 1));
    this.input.setAttribute("aria-valuetext", said || "not given");
  }

  begin(event) {
    this.gesture = Math.floor(performance.now()) + 1;
    this.fine = event.shiftKey;
    this.origin = Number(this.input.value);
  }

  turn() {
    let place = Number(this.input.value);
    if (this.fine) place = this.origin + 0.1 * (place - this.origin);
    this.value = this.scale.to(place / STEPS);
    this.turned(this.value, this.gesture || 0);
  }

  roll(event) {
    if (document.activeElement !== this.input) return; // a page that scrolls by must not turn knobs
    event.preventDefault();
    const by = (event.deltaY < 0 ? 1 : -1) * (event.shiftKey ? 1 : 10);
    this.input.value = Number(this.input.value) + by;
    this.turn();
  }
}
