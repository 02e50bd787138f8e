// The connection to the server: the token, requests, and streams of events that reconnect.

const KEY = "nacre-token";
const RETRY_MS = [500, 1000, 2000, 4000, 5000];
/** The server sends a comment every 5 s. */
const SILENT_MS = 15_000;

/** Moves the token from the address to the session storage, so that no history or referrer contains it. */
export function takeToken() {
  const given = /[#&]token=([\w-]+)/.exec(location.hash)?.[1];
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY) ?? "";
}

export class ServerError extends Error {
  constructor(status, message, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class Connection {
  #token;

  constructor(token) {
    this.#token = token;
  }

  async get(path) {
    return await this.#json(path, {});
  }

  async post(path, body = {}) {
    return await this.#json(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async #json(path, options) {
    const response = await this.#fetch(path, options);
    return await response.json();
  }

  async #fetch(path, options = {}) {
    const headers = { ...options.headers, Authorization: `Bearer ${this.#token}` };
    const response = await fetch(path, { ...options, headers, cache: "no-store" });
    if (response.ok) return response;
    const { error = response.statusText, error_code } = await response.json().catch(() => ({}));
    throw new ServerError(response.status, error, error_code);
  }

  /**
   * Follows a stream until the signal aborts or the server ends it with an "end" event. Reconnects after a failure.
   * @param {{ onEvent: (name: string, data: any) => void, onState?: (state: string, error?: any) => void, signal: AbortSignal }} options
   */
  async follow(path, { onEvent, onState = () => {}, signal }) {
    for (let failures = 0; !signal.aborted; ) {
      try {
        const isOver = await this.#read(path, {
          signal,
          onOpen: () => {
            failures = 0;
            onState("open");
          },
          onEvent,
        });
        if (isOver || signal.aborted) return;
        onState("lost");
      } catch (error) {
        if (signal.aborted) return;
        onState(stateAfter(error, failures), error);
        // Retry only after errors that can disappear: a restarted server can accept the token again (401), another tab
        // can close its stream (429), and a remote machine can become reachable (503).
        if (error instanceof ServerError && ![401, 429, 503].includes(error.status)) return;
      }
      await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)], signal);
    }
  }

  /** Returns whether the server has ended the stream on purpose. */
  async #read(path, { signal, onOpen, onEvent }) {
    const silence = new AbortController();
    const stop = () => silence.abort();
    signal.addEventListener("abort", stop);
    let timer = setTimeout(stop, SILENT_MS);
    try {
      const response = await this.#fetch(path, { signal: silence.signal });
      onOpen();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let held = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return false;
        clearTimeout(timer);
        timer = setTimeout(stop, SILENT_MS);
        const parts = (held + value).split("\n\n");
        held = parts.pop() ?? "";
        for (const part of parts) {
          const event = /^event: (.*)$/m.exec(part)?.[1];
          const data = /^data: (.*)$/m.exec(part)?.[1];
          if (event === undefined || data === undefined) continue;
          onEvent(event, JSON.parse(data));
          if (event === "end") return true;
        }
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      silence.abort();
    }
  }
}

/** The server counts as gone after several failed attempts in a row. */
function stateAfter(error, failures) {
  if (error instanceof ServerError) return "refused";
  return failures > 3 ? "gone" : "lost";
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
