// Plays blocks in the order in which they come; three are kept, so that one that is late is not missed.

class Blocks extends AudioWorkletProcessor {
  constructor({ processorOptions: { channels } }) {
    super();
    this.channels = channels;
    this.queue = [];
    this.at = 0;
    this.going = false;
    this.port.onmessage = ({ data }) => {
      this.queue.push(new Float32Array(data));
      if (this.queue.length > 8) this.queue.splice(0, this.queue.length - 3); // the page slept meanwhile
      if (this.queue.length >= 3) this.going = true;
    };
  }

  process(_, [out]) {
    for (let n = 0; n < out[0].length && this.going; n++) {
      const block = this.queue[0];
      if (!block) {
        this.going = false;
        break;
      }
      for (let c = 0; c < out.length; c++) out[c][n] = block[this.at * this.channels + Math.min(c, this.channels - 1)];
      this.at += 1;
      if (this.at * this.channels >= block.length) {
        this.queue.shift();
        this.at = 0;
      }
    }
    return true;
  }
}

registerProcessor("blocks", Blocks);
