// A film of a pluck: played slowly, stopped, scrubbed; or the live string.

export class Films {
  constructor({ reel, scrub, speed, freeze }) {
    Object.assign(this, { reel, scrub, speed, freezeButton: freeze, film: null, place: 0, frozen: false });
    scrub.addEventListener("input", () => {
      this.place = Number(scrub.value);
      this.freeze(true);
    });
  }

  show(film) {
    this.film = film;
    this.place = 0;
    this.scrub.max = film.strings.length - 1;
    this.reel.hidden = false;
    this.freeze(false);
  }

  live() {
    this.film = null;
    this.reel.hidden = true;
    this.freeze(false);
  }

  freeze(on) {
    this.frozen = on;
    this.freezeButton.setAttribute("aria-pressed", String(on));
    this.freezeButton.textContent = on ? "Go on" : "Pause";
  }

  step(by) {
    this.freeze(true);
    this.place = (this.place + by + this.film.strings.length) % this.film.strings.length;
    this.scrub.value = Math.round(this.place);
  }

  // The picture that is due, or null for the live one; what a second of film takes is chosen by the speed.
  next(seconds) {
    if (!this.film) return null;
    const { strings } = this.film;
    if (!this.frozen) {
      this.place = (this.place + seconds * 60 * 10 ** (Number(this.speed.value) - 1)) % strings.length;
      this.scrub.value = Math.floor(this.place);
    }
    const one = strings[Math.floor(this.place) % strings.length];
    return { strings: [{ ...one, focus: 1 }], ms: (Math.floor(this.place) * this.film.step * 1e3) / this.film.rate };
  }
}
