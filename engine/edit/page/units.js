// Numbers as people write them: "0.3 mm", "-6 dB", four digits that count. Knows nothing of the server.

const SHOWN = { m: ["mm", 1e3], s: ["ms", 1e3], "kg/m": ["g/m", 1e3] }; // where no text says which unit is meant
const QUANTITY = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(.*?)\s*$/i;

// A number with so many digits that count, without an exponent where that is readable.
export function digits(value, count = 4) {
  if (value === 0 || !isFinite(value)) return String(value || 0);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(count - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  const rounded = value.toPrecision(count);
  return rounded.includes(".") && !rounded.includes("e") ? rounded.replace(/\.?0+$/, "") : String(Number(rounded));
}

// [number, unit] of a text, or null.
export function split(text) {
  const found = QUANTITY.exec(text ?? "");
  return found ? [Number(found[1]), found[2]] : null;
}

// A text for a value in SI units, in the unit that `like` is written in, which stands for `was`.
export function text(value, unit, like, was, count = 4) {
  const parts = split(like);
  if (parts && parts[1] && was && parts[0]) return `${digits((value * parts[0]) / was, count)} ${parts[1]}`;
  if (parts && parts[1] === unit) return `${digits(value, count)} ${unit}`.trim();
  const [shown, factor] = SHOWN[unit] ?? [unit, 1];
  return `${digits(value * factor, count)} ${/exponent/.test(shown) ? "" : shown}`.trim();
}

export const millimetres = (value, count = 4) => `${digits(value * 1e3, count)} mm`;

const NAMES = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B"];
export const noteName = (key) => `${NAMES[key % 12]}${Math.floor(key / 12) - 1}`;
