// The strings as they are looked at: all of them and the loupe, live or filmed, followed and slowed. Knows nothing of
// the server: `asks` has a function for each wish, `strobe(slip)`, `focus(key)` and `film()`.

import { Films } from "./films.js";
import { StringView, aroundBarrier, wholeString } from "./strings.js";
import { noteName } from "./units.js";

export class Stage {
  constructor(find, asks) {
    this.whole = new StringView(find("whole"), { window: wholeString });
    this.loupe = new StringView(find("loupe"), { window: aroundBarrier, loupe: true });
    this.films = new Films({ reel: find("reel"), scrub: find("scrub"), speed: find("speed"), freeze: find("freeze") });
    this.focus = find("focus");
    this.filming = find("film");
    this.nothing();
    this.frozen = this.newest;
    this.focus.addEventListener("change", () => asks.focus(Number(this.focus.value)));
    this.filming.addEventListener("click", () => asks.film());
    find("freeze").addEventListener("click", () => this.films.freeze(!this.films.frozen));
    find("back").addEventListener("click", () => this.films.step(-1));
    find("on").addEventListener("click", () => this.films.step(1));
    find("live").addEventListener("click", () => this.films.live());
    this.slow(find("slip"), find("slip-said"), asks.strobe);
  }

  slow(slider, said, strobe) {
    const say = () => {
      const slip = Number(slider.value);
      said.textContent = slip === 0 ? "standing still" : `${(Math.abs(slip) * 60).toFixed(1)} periods a second${slip < 0 ? ", backwards" : ""}`;
    };
    slider.addEventListener("input", () => (say(), strobe(Number(slider.value))));
    say();
  }

  get views() {
    return [this.whole, this.loupe];
  }

  setColours(colours) {
    for (const view of this.views) view.setColours(colours);
  }

  setLengths(lengths) {
    for (const view of this.views) view.lengths = lengths;
  }

  // A live look: drawn next, and its strings can be followed.
  look(picture) {
    this.newest = picture;
    const keys = [...new Set(picture.strings.map((s) => s.key))].sort((a, b) => a - b);
    const shape = keys.join();
    if (shape === this.shape || document.activeElement === this.focus) return;
    this.shape = shape;
    const chosen = this.focus.value;
    const options = [new Option("the last string", "-1"), ...keys.map((key) => new Option(noteName(key), key))];
    if (chosen !== "-1" && !keys.includes(Number(chosen))) options.push(new Option(noteName(Number(chosen)), chosen));
    this.focus.replaceChildren(...options);
    this.focus.value = chosen;
  }

  nothing() {
    this.newest = { strings: [] }; // the look that is drawn next
  }

  // Whether a film waits for its pluck.
  armed(on) {
    this.filming.setAttribute("aria-pressed", String(Boolean(on)));
    this.filming.textContent = on ? "Waiting for a pluck …" : "A film is being taken";
  }

  film(pictures) {
    this.films.show(pictures);
    this.filming.setAttribute("aria-pressed", "false");
    this.filming.textContent = "Film the next pluck";
  }

  draw(seconds) {
    const picture = this.films.next(seconds) ?? (this.films.frozen ? this.frozen : this.newest);
    if (!this.films.frozen) this.frozen = this.newest;
    for (const view of this.views) view.draw(picture);
  }
}
