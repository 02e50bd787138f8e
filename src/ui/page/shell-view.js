// The details of one shell: its state, output and processes, and the button that kills it.
import { h, setText } from "./dom.js";
import { stateWords, titleOf } from "./list.js";
import { OutputView } from "./output-view.js";
import { processView } from "./process-view.js";
import { TerminalView } from "./terminal-view.js";
import { bytes, clock, counted, duration, visible, visibleText } from "./words.js";

/** @param {{ model: any, connection: any, control: boolean, onChange: () => void }} context */
export class ShellView {
  #context;
  #id;
  #state = h("span.state");
  #dot = h("span.dot", { "aria-hidden": "true" });
  #values = new Map();
  #output;
  #processes = h("div.process-box");
  #proof = h("div.outcome", { role: "status" });
  #kill;
  element;

  constructor(row, context) {
    this.#context = context;
    this.#id = row.id;
    this.#output =
      row.waiting === null
        ? new OutputView(context.connection, row.id)
        : new TerminalView(context.connection, row.id, context.control && row.ended === null);
    this.#kill = this.#killButton();
    const inspect = h(
      "button.quiet",
      { type: "button", on: { click: () => this.#inspect(inspect) } },
      "Processes",
    );
    this.element = h(
      "article.card.shell",
      { "data-id": row.id },
      h(
        "header.card-head",
        {},
        this.#dot,
        h("h2", {}, this.#state),
        h("div.buttons", {}, inspect, this.#kill),
      ),
      row.description && h("p.description", {}, ...visible(row.description)),
      row.command !== "" &&
        h(
          "pre.command",
          { tabindex: "0", "aria-label": "The command" },
          h("code", {}, ...visible(row.command)),
        ),
      row.kind === "session" &&
        h("p.session-note", {}, `The bash of ${titleOf(row)}: foreground commands run in it.`),
      this.#facts(),
      this.#proof,
      this.#processes,
      this.#output.element,
    );
    this.tick();
  }

  close() {
    this.#output.close();
  }

  focusSearch() {
    this.#output.focusSearch();
  }

  tick() {
    const row = this.#context.model.shells.get(this.#id);
    if (!row) {
      setText(this.#state, "removed");
      return;
    }
    const now = this.#context.model.now();
    const group = this.#context.model.attention(row);
    const machine = this.#context.model.machineOf(row);
    const isStale = machine !== undefined && machine.state !== "connected";
    this.#dot.className = `dot ${group}${isStale ? " stale" : ""}`;
    setText(this.#state, `${isStale ? "last known: " : ""}${stateWords(row, group)}`);
    const isRunning = row.ended === null;
    this.#kill.hidden = !isRunning || isStale || !this.#context.control;
    const silentMs = now - (row.printed_at ?? row.created_at);
    const values = {
      Started: clock(row.created_at),
      [isRunning ? "Age" : "Took"]: duration((row.ended_at ?? now) - row.created_at),
      "Silent for": isRunning ? duration(silentMs) : "",
      Directory: visibleText(row.cwd),
      Machine: visibleText(this.#context.model.machineOf(row)?.url ?? ""),
      Agent: visibleText(row.agent ?? ""),
      Session: row.session === null ? "" : visibleText(row.session),
      Scope: visibleText(row.scope),
      CPU: isRunning ? `${row.cpu_percent}%` : "",
      Memory: row.memory_bytes > 0 ? bytes(row.memory_bytes) : "",
      Processes: isRunning ? String(row.processes) : "",
      Ports: row.ports.join(", "),
      Output: bytes(row.output_bytes),
      Sandbox: row.sandbox ?? "",
      Id: row.shell_id,
    };
    for (const [term, { box, value }] of this.#values) {
      const text = values[term] ?? "";
      setText(value, text);
      box.hidden = text === "";
    }
  }

  #facts() {
    const terms = [
      "Started",
      "Age",
      "Took",
      "Silent for",
      "Directory",
      "Machine",
      "Agent",
      "Session",
      "Scope",
      "CPU",
      "Memory",
      "Processes",
      "Ports",
      "Output",
      "Sandbox",
      "Id",
    ];
    const boxes = terms.map((term) => {
      const value = h("dd");
      const box = h("div", {}, h("dt", {}, term), value);
      this.#values.set(term, { box, value });
      return box;
    });
    return h("dl.facts-list", {}, ...boxes);
  }

  async #inspect(button) {
    button.disabled = true;
    this.#processes.replaceChildren(h("p.note", {}, "Watching its processes for a second…"));
    try {
      this.#processes.replaceChildren(await processView(this.#context.connection, this.#id));
    } catch (error) {
      this.#processes.replaceChildren(h("p.outcome.bad", {}, error.message));
    }
    button.disabled = false;
  }

  /** Two steps: the first click asks, the second kills. */
  #killButton() {
    const button = h("button.danger", { type: "button", "data-action": "kill" }, "Kill");
    let timer;
    button.addEventListener("click", () => {
      if (button.dataset.armed === undefined) {
        button.dataset.armed = "";
        button.textContent = "Kill it with everything it started?";
        timer = setTimeout(() => disarm(), 5_000);
        return;
      }
      disarm();
      void this.#end(button);
    });
    const disarm = () => {
      clearTimeout(timer);
      delete button.dataset.armed;
      button.textContent = "Kill";
    };
    button.addEventListener("blur", disarm);
    return button;
  }

  async #end(button) {
    button.disabled = true;
    this.#proof.className = "outcome";
    this.#proof.textContent = "Ending it…";
    try {
      const { signalled, survivors, unverified, status } = await this.#context.connection.post(
        `/api/shells/${this.#id}/kill`,
      );
      const isClean = survivors.length === 0 && !unverified;
      this.#proof.className = `outcome ${isClean ? "good" : "bad"}`;
      this.#proof.replaceChildren(
        h(
          "p",
          {},
          isClean
            ? `Ended ${counted(signalled.length, "process", "processes")}. A last look at the process table found nothing left (${status}).`
            : "Something survived:",
        ),
        h(
          "ul",
          {},
          ...(isClean ? signalled : survivors).map(({ pid, command, reason }) =>
            h("li", {}, h("code", {}, ...visible(command)), ` PID ${pid}${reason ? `: ${reason}` : ""}`),
          ),
        ),
      );
    } catch (error) {
      this.#proof.className = "outcome bad";
      this.#proof.textContent = error.message;
    }
    button.disabled = false;
    this.#context.onChange();
  }
}
