// The output of one shell: follows it, searches in all of it, and limits the number of lines in the page.
import { h } from "./dom.js";
import { bytes, counted, readProblem, visible } from "./words.js";

const LINES_MAX = 2_000;
/** A longer line continues in the next element, so that the page can remove parts of an endless line. */
const LINE_MAX_CHARS = 16_384;
const ERRORS = "(?i)\\b(error|failed|failure|fatal|panic|exception|traceback)\\b";

export class OutputView {
  #connection;
  #id;
  #ending = new AbortController();
  #log = h("div.log", { role: "log", "aria-live": "off", tabindex: "0", "aria-label": "Output" });
  #note = h("p.log-note", { role: "status" });
  #follow = h("input", { type: "checkbox", id: "follow", checked: true });
  #search = h("input", {
    type: "search",
    id: "search",
    placeholder: "Search all output (RE2)",
    autocomplete: "off",
    spellcheck: "false",
    "aria-keyshortcuts": "s",
  });
  #lines = 0;
  #found;
  /** The last element of each stream, if its line is not complete. */
  #open = {};
  element;

  constructor(connection, id) {
    this.#connection = connection;
    this.#id = id;
    this.#follow.checked = true;
    this.#follow.addEventListener("change", () => this.#scrollToEnd());
    this.#log.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    const form = h(
      "form.tools",
      { role: "search", on: { submit: (event) => this.#onSubmit(event) } },
      h("label.hidden", { for: "search" }, "Search all output"),
      this.#search,
      h("button.quiet", { type: "submit" }, "Search"),
      h("button.quiet", { type: "button", on: { click: () => this.#searchFor(ERRORS) } }, "Errors"),
      h("label.check", { for: "follow" }, this.#follow, "Follow"),
    );
    this.element = h("section.output", { "aria-label": "Output" }, form, this.#note, this.#log);
    void this.#read();
  }

  close() {
    this.#ending.abort();
  }

  focusSearch() {
    this.#search.focus();
  }

  async #read() {
    const isFirst = { value: true };
    await this.#connection.follow(`/api/shells/${this.#id}/output`, {
      signal: this.#ending.signal,
      onState: (state, error) => {
        if (state === "refused" && error) this.#showNote(readProblem(error));
        if (state !== "open") return;
        // Start again, because a new connection sends the end of the output again.
        isFirst.value = true;
      },
      onEvent: (event, data) => {
        if (event !== "output") return;
        if (isFirst.value) this.#clear();
        isFirst.value = false;
        this.#append(data);
      },
    });
  }

  #clear() {
    this.#log.replaceChildren();
    this.#open = {};
    this.#lines = 0;
  }

  #append(chunks) {
    const block = h("div.block");
    for (const { stream, text, skipped_bytes } of chunks) {
      if (skipped_bytes)
        block.append(
          h("div.gap", {}, `${bytes(skipped_bytes)} before this are not shown; search finds them`),
        );
      const lines = text.split("\n");
      const rest = lines.pop();
      for (const line of lines) this.#addText(block, stream, line, true);
      if (rest !== "") this.#addText(block, stream, rest, false);
    }
    if (block.childElementCount > 0) this.#log.append(block);
    this.#trim();
    if (this.#lines === 0) this.#showNote("It has printed nothing yet.");
    else if (!this.#found) this.#showNote("");
    this.#scrollToEnd();
  }

  #addText(block, stream, text, isComplete) {
    let rest = text;
    const open = this.#open[stream];
    if (open && open.textContent.length < LINE_MAX_CHARS) {
      const left = LINE_MAX_CHARS - open.textContent.length;
      open.append(...visible(rest.slice(0, left)));
      rest = rest.slice(left);
      if (rest === "") {
        if (isComplete) this.#open[stream] = undefined;
        return;
      }
    }
    do {
      const line = h(`div.ln.${stream}`, {}, ...visible(rest.slice(0, LINE_MAX_CHARS)));
      block.append(line);
      this.#open[stream] = line;
      this.#lines++;
      rest = rest.slice(LINE_MAX_CHARS);
    } while (rest !== "");
    if (isComplete) this.#open[stream] = undefined;
  }

  /** Removes whole blocks, so that the cost does not grow with the output. */
  #trim() {
    while (this.#lines > LINES_MAX && this.#log.childElementCount > 1) {
      const first = this.#log.firstElementChild;
      this.#lines -= first.childElementCount;
      first.remove();
    }
  }

  #scrollToEnd() {
    if (this.#follow.checked && !this.#found) this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Stops following the output when the person scrolls up, and starts again when the person scrolls to the end. */
  #onScroll() {
    if (this.#found) return;
    const isAtEnd = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 40;
    if (this.#follow.checked !== isAtEnd) this.#follow.checked = isAtEnd;
  }

  #onSubmit(event) {
    event.preventDefault();
    const query = this.#search.value;
    if (query === "") this.#showOutput();
    else void this.#searchFor(query);
  }

  async #searchFor(query) {
    this.#search.value = query;
    this.#showNote("Searching…");
    try {
      const result = await this.#connection.get(
        `/api/shells/${this.#id}/search?q=${encodeURIComponent(query)}`,
      );
      const lines = result.lines.map(({ stream, number, line, text }) =>
        h(
          `div.ln.${stream}`,
          {},
          h("span.num", {}, `${stream === "stderr" ? "err " : ""}${number ?? line}`),
          ...visible(text),
        ),
      );
      this.#found ??= h("div.found", { tabindex: "0", role: "region", "aria-label": "Search results" });
      this.#found.replaceChildren(...lines);
      this.#log.replaceWith(this.#found);
      const part = result.isComplete ? "" : " so far";
      const cut = result.matches > lines.length ? `; the first ${lines.length} are shown` : "";
      this.#showNote(
        `${counted(result.matches, "line matches", "lines match")} in ${counted(result.searchedLines, "line")}${part}${cut}. `,
        true,
      );
    } catch (error) {
      this.#showNote(error.message, Boolean(this.#found));
    }
  }

  #showOutput() {
    this.#found?.replaceWith(this.#log);
    this.#found = undefined;
    this.#search.value = "";
    this.#showNote("");
    this.#scrollToEnd();
  }

  #showNote(text, withBack = false) {
    const back = h(
      "button.link-like",
      { type: "button", on: { click: () => this.#showOutput() } },
      "Back to the output",
    );
    this.#note.replaceChildren(...(text === "" ? [] : [text]), ...(withBack ? [back] : []));
  }
}
