// The sound in the page, where there is no card: blocks from the server, played by a worklet.

export class PagePlayer {
  async begin(rate, channels) {
    this.context = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
    await this.context.audioWorklet.addModule("worklet.js");
    this.node = new AudioWorkletNode(this.context, "blocks", { outputChannelCount: [2], processorOptions: { channels } });
    this.node.connect(this.context.destination);
    await this.context.resume();
  }

  play(buffer) {
    const block = buffer.slice(4);
    this.node?.port.postMessage(block, [block]);
  }

  async end() {
    await this.context?.close();
    this.node = null;
  }
}
