// Times, sizes and untrusted text in a readable form.
import { h } from "./dom.js";

/** Formats milliseconds: 65000 as "1m 5s". */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = count;
  let unit = -1;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function clock(ms) {
  return new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

/** If the machine cannot be reached, the list of machines shows the cause, so the details do not repeat it. */
export function readProblem({ code, message }) {
  return ["unavailable", "remote_lost"].includes(code)
    ? "The machine cannot be reached. What you see is the last known state."
    : message;
}

/**
 * Matches control characters (including tab and newline), invisible characters, and marks that change the text
 * direction.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** In one text, symbols beyond this number become plain text: an element for each of them would make the page slow. */
const SYMBOLS_MAX = 200;

/** The text as nodes. A control character or an invisible character becomes a visible symbol. */
export function visible(text) {
  const nodes = [];
  let at = 0;
  let symbols = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const [char] = match;
    if (char === "\n" || char === "\t") continue;
    if (match.index > at) nodes.push(document.createTextNode(text.slice(at, match.index)));
    at = match.index;
    symbols += 1;
    if (symbols > SYMBOLS_MAX) {
      nodes.push(document.createTextNode(withSymbols(text.slice(at))));
      return nodes;
    }
    nodes.push(h("span.ctl", {}, symbolFor(char)));
    at += char.length;
  }
  if (at < text.length) nodes.push(document.createTextNode(text.slice(at)));
  return nodes;
}

function withSymbols(text) {
  return text.replace(HIDDEN, (char) => (char === "\n" || char === "\t" ? char : symbolFor(char)));
}

/** Like visible(), but returns plain text, for attributes and one-line texts. */
export function visibleText(text) {
  return text.replace(HIDDEN, (char) => (char === "\n" || char === "\t" ? " " : symbolFor(char)));
}

/** The names of the control characters below 32. */
const NAMES =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(
    " ",
  );

function symbolFor(char) {
  const code = char.codePointAt(0) ?? 0;
  if (code < NAMES.length) return NAMES[code];
  if (code === 0x7f) return "DEL";
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
