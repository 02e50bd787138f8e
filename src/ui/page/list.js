// The list: one row per approval and shell, in groups, the most urgent first. Rows are reused and changed in place.
import { h, setAttribute, setText } from "./dom.js";
import { isApproval } from "./model.js";
import { bytes, counted, duration, visibleText } from "./words.js";

export class List {
  #root;
  #model;
  #onSelect;
  #rows = new Map();
  #groups = new Map();
  #selected = "";
  #filter = "";
  #order = "";
  #older = h("p.older");

  constructor(root, model, onSelect) {
    this.#root = root;
    this.#model = model;
    this.#onSelect = onSelect;
    root.addEventListener("keydown", (event) => this.#onKey(event));
  }

  setFilter(text) {
    this.#filter = text;
    this.render();
  }

  select(id) {
    this.#selected = id;
    for (const [key, { button }] of this.#rows) markSelected(button, key === id);
  }

  /** Shows the current rows. Call it every second, because rows show ages. */
  render() {
    const groups = this.#model.groups(this.#filter);
    for (const { items, key } of groups) for (const item of items) this.#update(item, key);
    const { olderCount } = this.#model;
    setText(this.#older, `${counted(olderCount, "older shell is", "older shells are")} not shown.`);
    this.#older.hidden = olderCount === 0;
    const order = groups.map(({ key, items }) => `${key}:${items.map(({ id }) => id).join(",")}`).join(";");
    if (order === this.#order && order !== "") return;
    this.#order = order;
    this.#arrange(groups);
  }

  #arrange(groups) {
    const focused = document.activeElement?.closest?.("[data-id]")?.dataset.id;
    const shown = new Set(groups.flatMap(({ items }) => items.map(({ id }) => id)));
    for (const id of this.#rows.keys()) if (!shown.has(id)) this.#rows.delete(id);
    const sections = groups.map(({ key, title, items }) => {
      const group = this.#groupFor(key, title);
      setText(group.count, String(items.length));
      const rows = items.map(({ id }) => this.#rows.get(id).row);
      if (
        rows.length !== group.list.children.length ||
        rows.some((row, at) => group.list.children[at] !== row)
      )
        group.list.replaceChildren(...rows);
      return group.section;
    });
    this.#root.replaceChildren(...(sections.length > 0 ? sections : [this.#empty()]), this.#older);
    if (focused && shown.has(focused)) this.#rows.get(focused).button.focus({ preventScroll: true });
  }

  #groupFor(key, title) {
    const known = this.#groups.get(key);
    if (known) return known;
    const count = h("span.count");
    const list = h("ul.rows");
    const section = h(`section.group.${key}`, {}, h("h2", {}, `${title} `, count), list);
    const group = { section, list, count };
    this.#groups.set(key, group);
    return group;
  }

  #empty() {
    if (this.#filter.trim() !== "")
      return h(
        "div.empty",
        {},
        h("p", {}, h("b", {}, "Nothing matches.")),
        h("p", {}, `No approval and no shell contains “${this.#filter}”.`),
      );
    return h(
      "div.empty",
      {},
      h("p", {}, h("b", {}, "All quiet.")),
      h("p", {}, "No agent has started a shell, and none waits for you. New ones appear here by themselves."),
      h("p", {}, "Try it: ", h("code", {}, "nacre run -b 'ping localhost'")),
    );
  }

  #update(item, group) {
    const row = this.#rows.get(item.id) ?? this.#newRow(item.id);
    const view = isApproval(item)
      ? approvalView(item, this.#model.now())
      : shellView(item, { now: this.#model.now(), group, machine: this.#model.machineOf(item) });
    setAttribute(row.button, "data-state", group);
    setAttribute(row.state, "class", `dot ${group}${view.isStale ? " stale" : ""}`);
    setText(row.words, view.state);
    setText(row.title, view.title);
    setText(row.command, view.command ?? "");
    setAttribute(row.title, "class", view.command ? "title words" : "title");
    row.button.classList.toggle("stale", view.isStale === true);
    setText(row.age, view.age);
    setText(row.facts, view.facts);
    setText(row.line, view.line);
  }

  #newRow(id) {
    const parts = {
      state: h("span.dot", { "aria-hidden": "true" }),
      words: h("span.state"),
      title: h("span.title"),
      age: h("span.age"),
      command: h("span.command-line"),
      facts: h("span.facts"),
      line: h("span.line"),
    };
    const button = h(
      "button.row",
      { type: "button", "data-id": id, on: { click: () => this.#onSelect(id) } },
      parts.state,
      parts.title,
      parts.age,
      parts.command,
      h("span.meta", {}, parts.words, parts.facts),
      parts.line,
    );
    markSelected(button, id === this.#selected);
    const made = { ...parts, button, row: h("li", {}, button) };
    this.#rows.set(id, made);
    return made;
  }

  #onKey(event) {
    const step = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.POSITIVE_INFINITY,
    }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.move(step);
  }

  /** Moves the focus between rows. */
  move(step) {
    const buttons = [...this.#root.querySelectorAll("button.row")];
    const at = buttons.indexOf(document.activeElement);
    const from = at < 0 && step === 1 ? -1 : Math.max(at, 0);
    buttons[Math.min(buttons.length - 1, Math.max(0, from + step))]?.focus();
  }
}

function markSelected(button, isSelected) {
  if (isSelected) button.setAttribute("aria-current", "true");
  else button.removeAttribute("aria-current");
}

function approvalView(entry, now) {
  const left = Date.parse(entry.deadline) - now;
  return {
    state: entry.waiting ? "waits for your approval" : "needs approval",
    title: visibleText(entry.description ?? entry.command),
    command: entry.description ? visibleText(entry.command) : "",
    age: `${duration(left)} left`,
    facts: [entry.session === null ? "" : `session ${entry.session}`, entry.rule]
      .filter(Boolean)
      .map(visibleText)
      .join(" · "),
    line: visibleText(entry.reason),
  };
}

function shellView(row, { now, group, machine }) {
  const isRunning = row.ended === null;
  const silentMs = now - (row.printed_at ?? row.created_at);
  const isStale = machine !== undefined && machine.state !== "connected";
  const facts = [
    machine ? `on ${machine.url}` : "",
    row.agent === null ? "" : `agent ${row.agent}`,
    row.session === null || row.kind === "session" ? "" : `session ${row.session}`,
    isRunning && silentMs > 10_000 ? `silent ${duration(silentMs)}` : "",
    isRunning && row.cpu_percent > 0 ? `CPU ${row.cpu_percent}%` : "",
    isRunning && row.memory_bytes > 0 ? bytes(row.memory_bytes) : "",
    row.ports.length > 0 ? `port ${row.ports.join(", ")}` : "",
  ];
  return {
    state: isStale ? `last known: ${stateWords(row, group)}` : stateWords(row, group),
    title: row.description ? named(row, row.description) : titleOf(row),
    command: row.description ? visibleText(row.command) : "",
    age: isRunning ? duration(now - row.created_at) : `${duration(now - (row.ended_at ?? now))} ago`,
    facts: facts.filter(Boolean).map(visibleText).join(" · "),
    line: visibleText(row.last_line),
    isStale,
  };
}

export function titleOf(row) {
  if (row.kind === "worker") return "worker of the file tools";
  if (row.kind === "session") return `session ${visibleText(row.session ?? "default")}`;
  return named(row, row.command);
}

function named({ name }, text) {
  return name === null ? visibleText(text) : `${visibleText(name)}: ${visibleText(text)}`;
}

export function stateWords(row, group) {
  if (row.ended !== null) return visibleText(row.ended);
  if (row.kind !== "command") return row.cpu_percent > 0 || row.processes > 1 ? "busy" : "idle";
  if (row.waiting === "secret") return "asks for a secret";
  if (row.waiting === "line" || row.waiting === "key") return "waits for input";
  return group === "silent" ? "silent" : "running";
}
