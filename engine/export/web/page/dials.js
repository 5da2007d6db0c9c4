// The parameters of an instrument as sliders: `turned(number, value)` hears of them, in the unit of the preset's key.

import { Slider, scaleOf } from "./knobs.js";
import { text } from "./units.js";

export class Dials {
  constructor(box, dials, turned) {
    this.turned = turned;
    for (const dial of dials) box.append(this.row(dial));
  }

  row(dial) {
    const row = document.createElement("div");
    row.className = "dial";
    const label = document.createElement("label");
    label.textContent = dial.name;
    const input = document.createElement("input");
    input.id = label.htmlFor = `dial-${dial.number}`;
    const said = document.createElement("output");
    said.htmlFor = input.id;
    const effect = document.createElement("p");
    effect.textContent = dial.effect;
    const scale = scaleOf({ low: dial.low, high: dial.high, usual: null }, dial.own);
    const show = (value) => {
      said.textContent = text(value, dial.unit);
      slider.set(scale, value, said.textContent);
    };
    const turn = (value) => {
      const held = Math.min(Math.max(value, dial.low), dial.high);
      show(held);
      this.turned(dial.number, held);
    };
    const slider = new Slider(input, turn);
    input.addEventListener("dblclick", () => turn(dial.own));
    show(dial.own);
    row.append(label, said, input, effect);
    return row;
  }
}
