// The line to the server: requests with answers, events, pictures; it comes back by itself when the server does.

const AGAIN = 800; // ms

export class Line {
  constructor({ event, bytes, open, closed, refused }) {
    this.hears = { event, bytes, open, closed, refused };
    this.waiting = new Map();
    this.next = 1;
    this.tries = 0;
    addEventListener("hashchange", () => this.takeToken() && this.again(0));
    this.takeToken();
    this.begin();
  }

  // The token stands behind the # of the address; it is kept for this tab, and the bar is cleared.
  takeToken() {
    const token = location.hash.slice(1);
    if (!token) return false;
    sessionStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
    return true;
  }

  begin() {
    const token = sessionStorage.getItem("token");
    if (!token) {
      this.hears.refused("Open the address that jawari edit printed: it ends in a # and a long word.");
      return;
    }
    const line = new WebSocket(`ws://${location.host}/line`, ["jawari", token]);
    line.binaryType = "arraybuffer";
    this.line = line;
    line.onmessage = ({ data }) => {
      if (typeof data !== "string") return this.hears.bytes(data);
      const said = JSON.parse(data);
      if (said.event) {
        if (said.event === "hello") {
          this.tries = 0;
          this.hears.open(said);
        } else this.hears.event(said);
      } else {
        const waiter = this.waiting.get(said.id);
        this.waiting.delete(said.id);
        waiter?.(said);
      }
    };
    line.onclose = () => {
      if (this.line !== line) return;
      for (const waiter of this.waiting.values()) waiter({ error: "the line broke" });
      this.waiting.clear();
      this.tries += 1;
      this.hears.closed(this.tries);
      this.again(AGAIN);
    };
  }

  again(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const before = this.line;
      this.line = null;
      before?.close();
      this.begin();
    }, wait);
  }

  // The answer to a request; an `error` in it says why it was not granted.
  ask(word, fields = {}) {
    if (this.line?.readyState !== WebSocket.OPEN) return Promise.resolve({ error: "the editor is not there just now" });
    const id = this.next++;
    this.line.send(JSON.stringify({ id, do: word, ...fields }));
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }
}
