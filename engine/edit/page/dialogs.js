// Questions and sentences: what is asked before something is lost, and what is said in passing.

export class Dialogs {
  constructor({ said, ask, text, entry, name, error, yes }) {
    Object.assign(this, { said, dialog: ask, text, entry, name, error, yes });
  }

  say(words, bad = false) {
    clearTimeout(this.timer);
    this.said.textContent = words;
    this.said.classList.toggle("bad", bad);
    this.timer = setTimeout(() => (this.said.textContent = ""), bad ? 9000 : 4500);
  }

  // A question with yes or no: true or false.
  confirm(words, yes) {
    return this.open(words, yes, null).then((answer) => answer !== null);
  }

  // A question that wants a name; `take` tries it and returns an error's words, or nothing.
  async naming(words, yes, name, take) {
    let error = "";
    for (;;) {
      name = await this.open(words, yes, name, error);
      if (name === null) return null;
      error = await take(name);
      if (!error) return name;
    }
  }

  open(words, yes, name, error = "") {
    this.text.textContent = words;
    this.yes.textContent = yes;
    this.entry.hidden = name === null;
    this.name.value = name ?? "";
    this.error.textContent = error;
    this.dialog.returnValue = "";
    this.dialog.showModal();
    (name === null ? this.yes : this.name).focus();
    if (name !== null) this.name.select();
    this.name.onkeydown = (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.dialog.close("yes");
      }
    };
    return new Promise((resolve) =>
      this.dialog.addEventListener(
        "close",
        () => resolve(this.dialog.returnValue === "yes" ? (name === null ? "" : this.name.value.trim()) : null),
        { once: true },
      ),
    );
  }
}
