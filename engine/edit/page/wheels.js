// Bend, wheel, pressure and pedals. Knows nothing of the server: `moved` has a function for each kind of message.

export class Wheels {
  constructor(find, { bend, controller, pressure }) {
    Object.assign(this, { bend: find("bend"), wheel: find("wheel"), pressure: find("pressure") });
    this.bend.addEventListener("input", () => bend(Number(this.bend.value)));
    for (const name of ["change", "pointerup"]) this.bend.addEventListener(name, () => ((this.bend.value = 0), bend(0)));
    this.wheel.addEventListener("input", () => controller(1, Number(this.wheel.value)));
    this.pressure.addEventListener("input", () => pressure(Number(this.pressure.value)));
    this.pedals = Object.fromEntries([...document.querySelectorAll("[data-pedal]")].map((tick) => [tick.dataset.pedal, tick]));
    for (const [number, tick] of Object.entries(this.pedals)) tick.addEventListener("change", () => controller(Number(number), tick.checked ? 127 : 0));
  }

  // What was moved elsewhere; a hand that is on one keeps it.
  showController(number, value) {
    if (number === 1) put(this.wheel, value);
    if (this.pedals[number]) this.pedals[number].checked = value >= 64;
  }

  showBend(value) {
    put(this.bend, value);
  }

  showPressure(value) {
    put(this.pressure, value);
  }
}

function put(slider, value) {
  if (document.activeElement !== slider) slider.value = value;
}
