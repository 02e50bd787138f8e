// The remote machines, above the list: whether each can be reached, and if not, why.
import { h, setAttribute, setText } from "./dom.js";
import { counted, duration, visibleText } from "./words.js";

const STATES = { connecting: "connecting…", connected: "connected", unreachable: "unreachable" };

export class MachineList {
  #root;
  #model;
  #rows = new Map();
  #order = "";

  constructor(root, model) {
    this.#root = root;
    this.#model = model;
  }

  render() {
    const machines = [...this.#model.machines.values()];
    for (const machine of machines) this.#update(machine);
    const order = machines.map(({ key }) => key).join(" ");
    if (order === this.#order) return;
    this.#order = order;
    for (const key of this.#rows.keys()) if (!this.#model.machines.has(key)) this.#rows.delete(key);
    const rows = machines.map(({ key }) => this.#rows.get(key).row);
    this.#root.replaceChildren(
      ...(rows.length === 0
        ? []
        : [h("section.machines", {}, h("h2", {}, "Remote machines "), h("ul", {}, ...rows))]),
    );
  }

  #update({ key, url, state, cause, since, hidden_count }) {
    const row = this.#rows.get(key) ?? this.#newRow(key);
    const shells = [...this.#model.shells.values()].filter((shell) => shell.machine === key).length;
    const age = duration(this.#model.now() - since);
    setAttribute(row.row, "data-state", state);
    setText(row.name, visibleText(url));
    setText(
      row.state,
      state === "connected"
        ? counted(shells, "shell")
        : `${STATES[state]}${state === "unreachable" ? ` for ${age}` : ""}`,
    );
    const hidden = hidden_count > 0 ? `${counted(hidden_count, "more shell")} there are not shown.` : "";
    const again = "Rows below are the last known state; nacre connects again by itself.";
    setText(row.cause, state === "unreachable" ? `${visibleText(cause ?? "")} ${again}` : hidden);
    row.cause.hidden = row.cause.textContent === "";
  }

  #newRow(key) {
    const parts = {
      name: h("span.machine-name"),
      state: h("span.machine-state"),
      cause: h("p.machine-cause"),
    };
    const row = h("li.machine", {}, parts.name, parts.state, parts.cause);
    const made = { ...parts, row };
    this.#rows.set(key, made);
    return made;
  }
}
