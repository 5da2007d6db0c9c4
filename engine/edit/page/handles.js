// Points that are dragged on a drawing: each is a slider to the keyboard and to a screen reader, too.

export class Handles {
  constructor(view, box) {
    this.view = view;
    this.box = box;
    this.handles = [];
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    box.append(this.tip);
    view.changed = () => this.place();
  }

  // Each: {name, kind, x, y: metres, said, move(x, y) -> said or nothing, step: {x, y}}. A held one is left alone.
  set(specs) {
    const held = this.held;
    const focused = this.handles.findIndex((h) => h.element === document.activeElement);
    if (this.handles.length === specs.length) {
      this.handles.forEach((handle, n) => handle !== held && this.fill(handle, specs[n]));
    } else {
      for (const handle of this.handles) handle.element.remove();
      this.handles = specs.map((spec) => this.make(spec));
      this.handles[focused]?.element.focus();
    }
    this.place();
  }

  make(spec) {
    const element = document.createElement("div");
    element.tabIndex = 0;
    element.setAttribute("role", "slider");
    const handle = { element };
    this.fill(handle, spec);
    element.addEventListener("pointerdown", (event) => this.hold(handle, event));
    element.addEventListener("pointermove", (event) => this.held === handle && this.drag(handle, event));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) element.addEventListener(name, () => this.drop(handle));
    element.addEventListener("keydown", (event) => this.key(handle, event));
    element.addEventListener("focus", () => this.say(handle));
    element.addEventListener("blur", () => (this.tip.hidden = true));
    element.addEventListener("pointerenter", () => this.say(handle));
    element.addEventListener("pointerleave", () => this.held !== handle && (this.tip.hidden = true));
    this.box.append(element);
    return handle;
  }

  fill(handle, spec) {
    Object.assign(handle, spec);
    const { element } = handle;
    element.className = `handle ${spec.kind ?? ""}`;
    element.setAttribute("aria-label", spec.name);
    element.setAttribute("aria-valuenow", String(spec.now ?? 0));
    element.setAttribute("aria-valuetext", spec.said);
  }

  place() {
    for (const { element, x, y } of this.handles) {
      const { view } = this;
      if (!view.seen) return;
      const px = view.x(x);
      const py = Math.min(Math.max(view.y(y), 10), view.height - 34);
      element.style.left = `${px}px`;
      element.style.top = `${py}px`;
      element.hidden = px < 2 || px > view.width - 2;
    }
  }

  hold(handle, event) {
    event.preventDefault();
    handle.element.focus();
    handle.element.setPointerCapture(event.pointerId);
    handle.element.classList.add("held");
    const box = this.view.canvas.getBoundingClientRect();
    const { view } = this;
    this.held = handle;
    handle.gesture = Math.floor(performance.now()) + 1;
    handle.off = [event.clientX - box.left - view.x(handle.x), event.clientY - box.top - view.y(handle.y)];
    handle.begun = { x: handle.x, y: handle.y };
    this.say(handle);
  }

  drag(handle, event) {
    const box = this.view.canvas.getBoundingClientRect();
    let x = this.view.metresX(event.clientX - box.left - handle.off[0]);
    let y = this.view.metresY(event.clientY - box.top - handle.off[1]);
    if (event.shiftKey) [x, y] = [handle.begun.x + 0.1 * (x - handle.begun.x), handle.begun.y + 0.1 * (y - handle.begun.y)];
    this.move(handle, x, y);
  }

  move(handle, x, y) {
    const moved = handle.move(x, y, handle.gesture);
    if (!moved) return;
    Object.assign(handle, moved);
    handle.element.setAttribute("aria-valuetext", handle.said);
    handle.element.setAttribute("aria-valuenow", String(moved.now ?? handle.now ?? 0));
    this.place();
    this.say(handle);
  }

  drop(handle) {
    if (this.held !== handle) return;
    this.held = null;
    handle.element.classList.remove("held");
    this.tip.hidden = true;
  }

  key(handle, event) {
    const size = { PageUp: 10, PageDown: 10 }[event.key] ?? (event.shiftKey ? 0.1 : 1);
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [0, 1], PageDown: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    handle.gesture = 0;
    let [dx, dy] = way;
    if (!handle.step.y) [dx, dy] = [dx + dy, 0]; // what goes one way only goes that way by all arrows
    if (!handle.step.x) [dx, dy] = [0, dx + dy];
    this.move(handle, handle.x + size * dx * (handle.step.x || 0), handle.y + size * dy * (handle.step.y || 0));
  }

  say(handle) {
    this.tip.hidden = false;
    this.tip.textContent = `${handle.name}: ${handle.said}`;
    const px = this.view.x(handle.x);
    this.tip.style.left = `${Math.min(Math.max(px - 60, 6), Math.max(this.view.width - 250, 6))}px`;
    const py = Math.min(Math.max(this.view.y(handle.y), 10), this.view.height - 34);
    this.tip.style.top = `${py > 48 ? py - 44 : py + 18}px`;
  }
}
