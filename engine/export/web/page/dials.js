// Parameters of an instrument as sliders: `turned(dial, value)` hears of them, in the unit of the preset's key.

import { Slider, logarithmic, scaleOf } from "./knobs.js";
import { text } from "./units.js";

// Of what goes from so many times less to as many times more each time is as far as the others.
function suiting({ low, high, own }) {
  const even = low > 0 && Math.abs(Math.log((own * own) / (low * high))) < 1e-6;
  return even ? logarithmic(low, high, false) : scaleOf({ low, high, usual: null }, own);
}

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
    input.id = label.htmlFor = `dial-${dial.key}`;
    const said = document.createElement("output");
    said.htmlFor = input.id;
    const effect = document.createElement("p");
    effect.textContent = dial.effect.replaceAll("`", "");
    const scale = suiting(dial);
    const show = (value) => {
      said.textContent = text(value, dial.unit);
      slider.set(scale, value, said.textContent);
    };
    const turn = (value) => {
      const held = Math.min(Math.max(value, dial.low), dial.high);
      show(held);
      this.turned(dial, held);
    };
    const slider = new Slider(input, turn);
    input.addEventListener("dblclick", () => turn(dial.own));
    show(dial.own);
    row.append(label, said, input, effect);
    return row;
  }
}
