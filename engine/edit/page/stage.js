// The strings as they are looked at: all of them and the loupe, live or filmed, followed and slowed. Knows nothing of
// the server: `asks` has a function for each wish, `strobe(slip)`, `focus(key, string, pace)` and `film()`.

import { Films } from "./films.js";
import { StringView, aroundBarrier, wholeString } from "./strings.js";
import { Parts } from "./parts.js";

export class Stage {
  constructor(find, asks) {
    this.whole = new StringView(find("whole"), { window: wholeString });
    this.loupe = new StringView(find("loupe"), { window: aroundBarrier, loupe: true });
    this.films = new Films({ reel: find("reel"), scrub: find("scrub"), speed: find("speed"), freeze: find("freeze") });
    this.focus = find("focus");
    this.filming = find("film");
    this.nothing();
    this.frozen = this.newest;
    this.which = find("which"); // which of several strings is drawn; pages of one string have no such choice
    this.parts = new Parts({});
    this.auto = 0;
    this.focus.addEventListener("change", () => asks.focus(...this.parts.wish(this.focus.value)));
    this.which?.addEventListener("change", () => this.shown?.());
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

  // A preset's scene; what is drawn of it is the string that was chosen, or the one that is followed.
  setScene(scene) {
    this.scene = scene;
    this.parts = new Parts(scene);
    if (!this.which) return;
    const chosen = this.which.value;
    this.which.replaceChildren(new Option("the one that is followed", "-1"), ...this.parts.names.map((name, n) => new Option(name, n)));
    this.which.value = Number(chosen) < this.parts.names.length ? chosen : "-1";
    this.which.closest("label").hidden = this.parts.names.length < 2;
  }

  // The scene of the string that is drawn.
  get drawn() {
    const chosen = Number(this.which?.value || -1);
    return this.parts.scene(chosen < 0 ? this.auto : chosen);
  }

  // A live look: drawn next, and its strings can be followed.
  look(picture) {
    for (const one of picture.strings) one.length ||= this.parts.lengthOf(one);
    this.newest = picture;
    this.follow(picture.strings.find((one) => one.focus));
    const found = this.parts.choices(picture.strings);
    const shape = found.map(([, value]) => value).join();
    if (shape === this.shape || document.activeElement === this.focus) return;
    this.shape = shape;
    const chosen = this.focus.value;
    const options = [new Option("the last string", "-1"), ...found.map(([name, value]) => new Option(name, value))];
    if (chosen !== "-1" && !found.some(([, value]) => value === chosen)) options.push(new Option(this.parts.nameOf(chosen), chosen));
    this.focus.replaceChildren(...options);
    this.focus.value = chosen;
  }

  choose(value) {
    this.focus.value = value;
    this.focus.dispatchEvent(new Event("change"));
  }

  // Another of several strings is followed: it is drawn over what it stands over.
  follow(one) {
    const part = one ? this.parts.of(one) : this.auto;
    if (part === this.auto || part < 0) return;
    this.auto = part;
    if (!(Number(this.which?.value) >= 0)) this.shown?.();
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
    for (const one of pictures.strings) one.length ||= this.parts.lengthOf(one);
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
