// The screen of one terminal as text, with its cursor, and a form to type into it. The page sends typed text at once
// and does not store it. At a prompt for a secret, the input field hides what is typed.
import { h, setText } from "./dom.js";
import { readProblem, visible } from "./words.js";

const WAITING = {
  line: "It waits for a line.",
  key: "It waits for a key.",
  secret: "It asks for a secret, such as a password. What you type is not shown and not stored.",
  maybe: "It may wait for input.",
  no: "It does not wait for input.",
};

/** Terminal key names by the browser's key name. */
const KEYS = {
  Enter: "Enter",
  Escape: "Escape",
  Backspace: "Backspace",
  Delete: "Delete",
  Home: "Home",
  End: "End",
  PageUp: "PageUp",
  PageDown: "PageDown",
  ArrowUp: "Up",
  ArrowDown: "Down",
  ArrowLeft: "Left",
  ArrowRight: "Right",
};

const BUTTONS = ["Enter", "Tab", "Escape", "Up", "Down", "Left", "Right", "Backspace", "Ctrl-C", "Ctrl-D"];

export class TerminalView {
  #connection;
  #id;
  #ending = new AbortController();
  #rows = h("div.screen-rows");
  #screen;
  #note = h("p.log-note", { role: "status" });
  #problem = h("p.outcome.bad", { role: "alert", hidden: true });
  #field = h("input", { type: "text", id: "typed", autocomplete: "off", spellcheck: "false" });
  #form;
  /** Input that is not sent yet. The page sends one request at a time, so that the input arrives in order. */
  #unsent = [];
  #isSending = false;
  element;

  /** @param {boolean} control whether the person may type */
  constructor(connection, id, control) {
    this.#connection = connection;
    this.#id = id;
    this.#screen = h(
      "div.screen",
      {
        tabindex: "0",
        role: control ? "application" : "img",
        "aria-label": control
          ? "Screen of the terminal. Keys go to the program; Tab leaves."
          : "Screen of the terminal",
        on: control ? { keydown: (event) => this.#onKey(event), paste: (event) => this.#onPaste(event) } : {},
      },
      this.#rows,
    );
    this.#form = control ? this.#typeForm() : h("p.note", {}, "This page is read-only: it cannot type.");
    this.element = h(
      "section.terminal",
      { "aria-label": "Terminal" },
      this.#screen,
      this.#note,
      this.#problem,
      this.#form,
    );
    void this.#read();
  }

  close() {
    this.#ending.abort();
  }

  focusSearch() {
    (this.#form.querySelector("input") ?? this.#screen).focus();
  }

  async #read() {
    await this.#connection.follow(`/api/shells/${this.#id}/screen`, {
      signal: this.#ending.signal,
      onState: (state, error) => {
        if (state !== "open" && error?.message) setText(this.#note, readProblem(error));
      },
      onEvent: (event, data) => {
        if (event === "screen") this.#draw(data);
        if (event === "end") this.#onEnd();
      },
    });
  }

  #draw({ rows, cols, cursor, waiting, is_partial }) {
    // Reuse the element of an unchanged row: otherwise a selection in it would be lost.
    const last = Math.max(
      cursor.row,
      rows.findLastIndex((row) => row !== ""),
    );
    const shown = rows.slice(0, Math.max(last + 1, Math.min(rows.length, 8)));
    const lines = shown.map((text, index) => {
      const at = index === cursor.row ? Math.max(0, cursor.at) : -1;
      const key = `${at} ${text}`;
      const before = this.#rows.children[index];
      return before?.dataset.key === key ? before : rowElement(text, at, key);
    });
    const isSame =
      lines.length === this.#rows.children.length &&
      lines.every((line, at) => this.#rows.children[at] === line);
    if (!isSame) this.#rows.replaceChildren(...lines);
    this.#screen.style.setProperty("--cols", String(Math.min(Math.max(cols, 20), 500)));
    this.#screen.dataset.waiting = waiting;
    const partial = is_partial
      ? " Only the end of its long output was drawn; parts of the screen may be missing."
      : "";
    setText(this.#note, `${WAITING[waiting] ?? ""}${partial}`);
    this.#field.type = waiting === "secret" ? "password" : "text";
    this.#field.autocomplete = waiting === "secret" ? "new-password" : "off";
  }

  #onEnd() {
    setText(this.#note, "It has ended. This is its last screen.");
    this.#screen.dataset.waiting = "ended";
    this.#form.hidden = true;
  }

  #typeForm() {
    const submit = (event) => {
      event.preventDefault();
      const text = this.#field.value;
      this.#field.value = "";
      this.#type({ ...(text === "" ? {} : { text }), keys: ["Enter"] });
    };
    return h(
      "form.type",
      { on: { submit } },
      h(
        "div.type-line",
        {},
        h("label", { for: "typed" }, "Type a line"),
        this.#field,
        h("button.primary", { type: "submit" }, "Type"),
      ),
      h(
        "div.keys-row",
        { role: "group", "aria-label": "Keys" },
        ...BUTTONS.map((key) =>
          h(
            "button.quiet",
            { type: "button", "data-key": key, on: { click: () => this.#type({ keys: [key] }) } },
            key,
          ),
        ),
      ),
    );
  }

  #onKey(event) {
    // Leave Tab and browser shortcuts to the browser: the keyboard focus must not be trapped here.
    if (event.key === "Tab" || event.metaKey || event.isComposing) return;
    const input = inputOf(event);
    if (!input) return;
    event.preventDefault();
    event.stopPropagation();
    this.#type(input);
  }

  #onPaste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    event.preventDefault();
    if (text !== "") this.#type({ text });
  }

  #type(input) {
    const last = this.#unsent.at(-1);
    const canJoin = last && this.#unsent.length > (this.#isSending ? 1 : 0) && !last.keys && !input.keys;
    if (canJoin) last.text += input.text;
    else this.#unsent.push({ ...input });
    if (!this.#isSending) void this.#send();
  }

  async #send() {
    this.#isSending = true;
    this.#problem.hidden = true;
    while (this.#unsent.length > 0) {
      const [input] = this.#unsent;
      try {
        await this.#connection.post(`/api/shells/${this.#id}/type`, input);
        this.#unsent.shift();
      } catch (error) {
        this.#unsent = [];
        this.#problem.hidden = false;
        this.#problem.textContent = error.message;
      }
    }
    this.#isSending = false;
  }
}

/** The input for a key event; undefined for a key that the browser handles. */
function inputOf({ key, ctrlKey, altKey }) {
  if (KEYS[key] || /^F\d{1,2}$/.test(key)) return { keys: [KEYS[key] ?? key] };
  if (key.length !== 1 && [...key].length !== 1) return undefined;
  if (ctrlKey) return /^[a-z]$/i.test(key) ? { keys: [`Ctrl-${key.toUpperCase()}`] } : undefined;
  if (altKey) return /^[a-z]$/i.test(key) ? { keys: [`Alt-${key}`] } : undefined;
  return { text: key };
}

function rowElement(text, at, key) {
  const row = h("div.screen-row", { "data-key": key });
  if (at < 0) row.append(...visible(text));
  else {
    const padded = text.padEnd(Math.min(at, 1_000) + 1);
    const under = [...padded.slice(at)][0] ?? " ";
    row.append(
      ...visible(padded.slice(0, at)),
      h("span.cursor", {}, ...visible(under)),
      ...visible(padded.slice(at + under.length).trimEnd()),
    );
  }
  return row;
}
