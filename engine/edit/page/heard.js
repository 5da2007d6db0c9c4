// Pieces of sound that are played one behind the other as they come.

const AHEAD = 3; // s that are asked for before they are due

export class Heard {
  constructor() {
    this.context = new AudioContext();
    this.due = 0;
  }

  // Play a piece; resolves when the next one is wanted. `ended` is called after the last.
  async play({ sound, rate, last }, ended) {
    const numbers = new Int16Array(Uint8Array.from(atob(sound), (letter) => letter.charCodeAt(0)).buffer);
    const { context } = this;
    if (!numbers.length) return last && ended();
    const buffer = context.createBuffer(2, numbers.length / 2, rate);
    for (let side = 0; side < 2; side++) {
      const channel = buffer.getChannelData(side);
      for (let n = 0; n < channel.length; n++) channel[n] = numbers[2 * n + side] / 32768;
    }
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    this.due = Math.max(this.due, context.currentTime + 0.02);
    source.start(this.due);
    this.due += buffer.duration;
    if (last) source.onended = ended;
    const wait = this.due - context.currentTime - AHEAD;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, 1e3 * wait));
  }

  end() {
    this.context.close();
  }
}
