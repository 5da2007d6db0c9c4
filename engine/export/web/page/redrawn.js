// What is drawn of a preset once it is designed for other values: its barrier, where it is plucked and where it is heard.

// `own` has of each key that a design may follow [the preset's value, lowest, highest]; `values` are those turned, by key.
export function redrawn(scene, own, values) {
  const made = { ...scene };
  const at = (key) => (key in own && values.has(key) ? Math.min(Math.max(values.get(key), own[key][1]), own[key][2]) : null);
  made.pluck = at("excitation.position") ?? scene.pluck;
  made.force = at("excitation.force") ?? scene.force;
  made.pickups = scene.pickups.map((pickup, n) => ({ ...pickup, at: at(`pickups.${n}.at`) ?? pickup.at }));
  if (scene.barrier) {
    const { barrier } = scene;
    const height = at("barrier.height") ?? barrier.height;
    const bent = at("barrier.curvature"); // a parabola falls from its height by so much times a square
    const share = bent === null ? 1 : bent / own["barrier.curvature"][0];
    made.barrier = { ...barrier, height, h: barrier.h.map((h) => height + share * (h - barrier.height)) };
  }
  return made;
}
