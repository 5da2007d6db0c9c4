// What can be dragged of a preset's drawing, and what a drag makes of its keys. `set(path, text, gesture)` asks for it.
// Of several strings the one that is drawn may have a key of its own, or share it: the scene says where it stands.

import { digits, millimetres } from "./units.js";

const mm = (value) => millimetres(value, 5);
const where = (scene, key) => scene.where?.[key] ?? key;

export function barrierHandles(state, set) {
  const { scene, values } = state;
  const { barrier } = scene;
  if (!barrier) return [];
  const here = Object.fromEntries(["profile", "curvature", "table"].map((word) => [`barrier.${word}`, values[where(scene, `barrier.${word}`)]]));
  const put = (key, text, gesture) => set(where(scene, key), text, gesture);
  return barrier.kind === "points" ? obstacles(scene, put) : [...surface(scene, here, put)];
}

function obstacles({ barrier, length }, set) {
  const places = barrier.x.map((x, n) => [x, barrier.h[n] - barrier.height]);
  return places.map(([x, own], n) => ({
    name: `Point ${n + 1}`,
    kind: "point",
    x,
    y: own + barrier.height,
    now: +(own * 1e3).toFixed(4),
    said: `${mm(own)} at ${mm(x)}`,
    step: { x: 1e-3, y: 1e-5 },
    move(px, py, gesture) {
      places[n] = [Math.min(Math.max(px, 1e-4), length - 1e-4), py - barrier.height];
      set("barrier.at", `[${places.map(([a, b]) => `[${mm(a)}, ${mm(b)}]`).join(", ")}]`, gesture);
      const [a, b] = places[n];
      return { x: a, y: b + barrier.height, now: +(b * 1e3).toFixed(4), said: `${mm(b)} at ${mm(a)}` };
    },
  }));
}

function* surface({ barrier, length }, values, set) {
  const start = barrier.x[0];
  const stop = barrier.x.at(-1);
  const profile = values["barrier.profile"];
  yield {
    name: "Height of the barrier",
    kind: "apex",
    x: start,
    y: barrier.h[0],
    now: +(barrier.height * 1e3).toFixed(4),
    said: mm(barrier.height),
    step: { x: 0, y: 1e-5 },
    move(_, py, gesture) {
      const height = barrier.height + (py - barrier.h[0]);
      set("barrier.height", mm(height), gesture);
      return { y: py, now: +(height * 1e3).toFixed(4), said: mm(height) };
    },
  };
  if (profile === "parabola") {
    const reach = 0.8; // of the way: where the curve is bent by hand
    const x = start + reach * (stop - start);
    const fall = (curvature) => barrier.height - curvature * (x - start) ** 2;
    const said = (curvature) => `${digits(curvature)} 1/m`;
    yield {
      name: "Curvature",
      kind: "bend",
      x,
      y: fall(values["barrier.curvature"]),
      now: +digits(values["barrier.curvature"]),
      said: said(values["barrier.curvature"]),
      step: { x: 0, y: -1e-5 },
      move(_, py, gesture) {
        const curvature = (barrier.height - py) / (x - start) ** 2;
        set("barrier.curvature", said(curvature), gesture);
        return { y: py, now: +digits(curvature), said: said(curvature) };
      },
    };
  }
  if (profile === "table" && Array.isArray(values["barrier.table"]) && values["barrier.table"].length <= 40) {
    const rows = values["barrier.table"].map((row) => [...row]);
    for (let n = 0; n < rows.length; n++)
      yield {
        name: `Point ${n + 1} of the table`,
        kind: "point",
        x: rows[n][0],
        y: rows[n][1] + barrier.height,
        now: +(rows[n][1] * 1e3).toFixed(4),
        said: mm(rows[n][1]),
        step: { x: 0, y: 1e-5 },
        move(_, py, gesture) {
          rows[n][1] = py - barrier.height;
          set("barrier.table", `[${rows.map(([a, b]) => `[${mm(a)}, ${mm(b)}]`).join(", ")}]`, gesture);
          return { y: py, now: +(rows[n][1] * 1e3).toFixed(4), said: mm(rows[n][1]) };
        },
      };
  }
  if (profile !== "table")
    yield {
      name: "End of the barrier",
      kind: "end",
      x: stop,
      y: barrier.h.at(-1),
      now: +(stop * 1e3).toFixed(2),
      said: mm(stop),
      step: { x: 1e-3, y: 0 },
      move(px, _, gesture) {
        const end = Math.min(Math.max(px, start + 1e-3), length);
        set("barrier.to", mm(end), gesture);
        return { x: end, now: +(end * 1e3).toFixed(2), said: mm(end) };
      },
    };
}

// Where it is plucked and where it is heard, on the whole string.
export function stringHandles(state, set) {
  const { scene } = state;
  const along = (x) => Math.min(Math.max(x / scene.length, 0.005), 0.995);
  const place = (at) => `${digits(at * 100, 3)} % of the length`;
  const found = [];
  if (scene.pluck !== null)
    found.push({
      name: "Pluck",
      kind: "pluck",
      x: scene.pluck * scene.length,
      y: 0,
      now: scene.pluck,
      said: place(scene.pluck),
      step: { x: 0.01 * scene.length, y: 0 },
      move(px, _, gesture) {
        const at = +along(px).toFixed(4);
        set(where(scene, "excitation.position"), String(at), gesture);
        return { x: at * scene.length, now: at, said: place(at) };
      },
    });
  scene.pickups.forEach((pickup, n) => {
    if (pickup.at <= 0 || pickup.at >= 1) return; // at an end it stays there
    found.push({
      name: `Pickup ${n + 1}`,
      kind: "pickup",
      x: pickup.at * scene.length,
      y: 0,
      now: pickup.at,
      said: place(pickup.at),
      step: { x: 0.01 * scene.length, y: 0 },
      move(px, _, gesture) {
        const at = +along(px).toFixed(4);
        set(`pickups.${n}.at`, String(at), gesture);
        return { x: at * scene.length, now: at, said: place(at) };
      },
    });
  });
  for (const { path, at, what } of scene.hung ?? [])
    found.push({
      name: `${what[0].toUpperCase()}${what.slice(1)}`,
      kind: "hung",
      x: at * scene.length,
      y: 0,
      now: at,
      said: place(at),
      step: { x: 0.01 * scene.length, y: 0 },
      move(px, _, gesture) {
        const to = +along(px).toFixed(4);
        set(path, String(to), gesture);
        return { x: to * scene.length, now: to, said: place(to) };
      },
    });
  return found;
}
