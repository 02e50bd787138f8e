// `nacre serve --stdio`: copies bytes between the link and the daemon, and starts the daemon if there is none. The
// relay itself prints only one line: the reason if it cannot reach the daemon.
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { startDetached } from "../../engine/link-process.ts";
import { ownBuildHash } from "../../engine/own-build.ts";
import { attempt } from "../../support/attempt.ts";
import { monotonicMs } from "../../support/clock.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import {
  EXCERPT_MAX_CHARS,
  REMOTE_DAEMON_POLL_MS,
  REMOTE_DAEMON_RESTART_MS,
  REMOTE_DAEMON_START_MAX_MS,
} from "../../support/limits.ts";
import { sleep } from "../../support/timing.ts";
import { formatLine } from "../channel/handshake.ts";
import { type ServePlace, servePlace, withShortPath } from "./serve-place.ts";

export interface RelayIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly cwd: string;
}

/** Returns false if the daemon cannot be reached, and writes the reason to stdout, where the client expects it. */
export async function relay(io: RelayIo, daemonArgv: readonly string[]): Promise<boolean> {
  let daemon: Socket;
  try {
    daemon = await reachDaemon(daemonArgv);
  } catch (error) {
    const reason = messageOf(error).replace(/\s+/g, " ");
    await new Promise((resolve) => io.stdout.write(`nacre-refused serve ${reason}\n`, resolve));
    return false;
  }
  daemon.write(formatLine("relay", { cwd: io.cwd }));
  await new Promise<void>((resolve) => {
    daemon.on("error", () => resolve());
    daemon.on("close", () => resolve());
    io.stdout.on("error", () => resolve());
    io.stdin.on("error", () => resolve());
    daemon.pipe(io.stdout, { end: false });
    io.stdin.pipe(daemon);
  });
  daemon.destroy();
  io.stdin.destroy();
  return true;
}

async function reachDaemon(daemonArgv: readonly string[]): Promise<Socket> {
  const place = servePlace(ownBuildHash());
  const deadline = monotonicMs() + REMOTE_DAEMON_START_MAX_MS;
  for (let startedMs = Number.NEGATIVE_INFINITY; ; ) {
    const socket = await tryConnect(place);
    if (socket) return socket;
    const now = monotonicMs();
    if (now > deadline) throw notReached(place);
    // Retry the start: a daemon that is ending still has the lock, and a daemon started meanwhile exits at once.
    const mayStart = process.env["NACRE_SERVE"] !== "attach";
    if (mayStart && now - startedMs > REMOTE_DAEMON_RESTART_MS) {
      startDetached(daemonArgv, place.log);
      startedMs = now;
    }
    await sleep(REMOTE_DAEMON_POLL_MS);
  }
}

async function tryConnect(place: ServePlace): Promise<Socket | undefined> {
  return await withShortPath(
    place,
    (path) =>
      new Promise<Socket | undefined>((resolve) => {
        const socket = connect(path);
        socket.once("connect", () => resolve(socket));
        socket.once("error", () => resolve(undefined));
      }),
  );
}

function notReached({ log }: ServePlace): NacreError {
  const text = attempt(() => readFileSync(log, "utf8").trim().slice(-EXCERPT_MAX_CHARS)) ?? "";
  const why = text === "" ? "" : ` Its last message: ${text}`;
  return new NacreError(
    "unavailable",
    `The nacre daemon did not start within ${REMOTE_DAEMON_START_MAX_MS}ms.${why}`,
  );
}
