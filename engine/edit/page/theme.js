// Dark or light, as the system has it or as a button says; canvases get their colours from the style sheet. Knows
// nothing of the server: `changed(colours)` hears of it.

const NAMED = { ground: "ground", sunk: "sunk", edge: "edge", edgeStrong: "edge-strong", ink: "ink", soft: "soft", accent: "accent", touch: "touch", kin: "kin", ghost: "ghost", barrier: "barrier" };
const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

export class Theme {
  constructor(button, changed) {
    const light = matchMedia("(prefers-color-scheme: light)");
    const usual = () => (light.matches ? "light" : "dark");
    this.changed = changed;
    this.take(kept() ?? usual());
    light.addEventListener("change", () => kept() ?? this.take(usual()));
    button.addEventListener("click", () => {
      const theme = document.documentElement.dataset.theme === "light" ? "dark" : "light";
      keep(theme);
      this.take(theme);
    });
  }

  take(theme) {
    document.documentElement.dataset.theme = theme;
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(Object.entries(NAMED).map(([name, word]) => [name, style.getPropertyValue(`--${word}`).trim()]));
    this.colours.ramp = ramp(["sunk", "barrier", "accent", "ink"].map((name) => channels(this.colours[name])));
    this.changed(this.colours);
  }
}

// 256 colours from the first stop to the last one.
function ramp(stops) {
  const made = new Uint8Array(3 * 256);
  for (let n = 0; n < 256; n++) {
    const at = (n / 255) * (stops.length - 1);
    const k = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) made[3 * n + c] = stops[k][c] + (at - k) * (stops[k + 1][c] - stops[k][c]);
  }
  return made;
}

// Who lets a page keep nothing has the system's choice each time.
function kept() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

function keep(theme) {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // nothing is kept
  }
}
