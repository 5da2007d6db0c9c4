// Web MIDI: keyboards that the browser knows. Three ways in which there is none, each with its sentence.

export async function webMidi(send, say) {
  if (!navigator.requestMIDIAccess) {
    say("This browser has no Web MIDI; keyboards are heard through the sound card's side all the same.");
    return false;
  }
  let access;
  try {
    access = await navigator.requestMIDIAccess();
  } catch (error) {
    const allowed = error.name === "NotAllowedError" || error.name === "SecurityError";
    say(allowed ? "The browser was not allowed to use MIDI; allow it in the address bar's settings." : "This system gives the browser no MIDI.");
    return false;
  }
  const listen = () => {
    let count = 0;
    for (const input of access.inputs.values()) {
      count += 1;
      input.onmidimessage = ({ data }) => {
        if (data.length <= 3 && data[0] < 0xf0) send([...data].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
      };
    }
    say(count ? `Web MIDI: ${[...access.inputs.values()].map((input) => input.name).join(", ")}` : "Web MIDI is on; no keyboard is plugged in yet.");
  };
  access.onstatechange = ({ port }) => port.type === "input" && listen();
  listen();
  return true;
}
