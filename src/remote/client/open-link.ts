// One attempt to reach the daemon: starts the client program, skips everything before the greeting, and pushes the
// build if the remote machine does not have it.
//
//   openLink -> attemptLink   greeting -> done
//                             probe    -> pushBuild -> attemptLink
//                             the end  -> explainLinkFailure
import { type LinkEnd, type LinkProcess, startLinkProcess } from "../../engine/link-process.ts";
import { ownBuildHash } from "../../engine/own-build.ts";
import {
  REMOTE_BEFORE_GREETING_MAX_BYTES,
  REMOTE_LINK_END_MS,
  REMOTE_NOISE_MAX_CHARS,
} from "../../support/limits.ts";
import { deferred, within } from "../../support/timing.ts";
import { isProbeLine, type MachineFacts, readFacts } from "../bootstrap/machine-facts.ts";
import { pushBuild } from "../bootstrap/push-build.ts";
import { startArguments } from "../bootstrap/remote-scripts.ts";
import { FrameLines } from "../channel/frame-lines.ts";
import { type Greeting, parseGreeting } from "../channel/handshake.ts";
import { printableLine } from "../links/client-output.ts";
import type { Link } from "../links/link.ts";
import { explainLinkFailure, LinkFailure } from "../links/link-failure.ts";

export interface OpenLinkOptions {
  /** Path on this machine of a Node program for the remote machine. */
  readonly node?: string | undefined;
  /** The longest time until the greeting. */
  readonly connectMaxMs: number;
  /** When aborted before the greeting, kills the client program. */
  readonly signal: AbortSignal;
  /** Receives every line after the greeting. If it throws, the link is closed. */
  readonly onLine: (line: string) => void;
  /** Called for every chunk after the greeting. On a slow link, a large message needs many chunks. */
  readonly onBytes: () => void;
  /** Called once, when a link that had greeted has ended. `broken`: the error if this end closed the link. */
  readonly onEnd: (broken?: unknown) => void;
}

export interface OpenLink {
  readonly greeting: Greeting;
  write(line: string): void;
  /** Ends the client program at once. */
  close(): void;
  /** Closes stdin: everything written before still arrives. */
  finish(): void;
}

export async function openLink(link: Link, options: OpenLinkOptions): Promise<OpenLink> {
  const buildHash = ownBuildHash();
  const first = await attemptLink(link, buildHash, options);
  if ("greeting" in first) return first;
  const { node } = options;
  await pushBuild(link, first, { buildHash, node });
  const second = await attemptLink(link, buildHash, options);
  if ("greeting" in second) return second;
  throw new LinkFailure(
    `The remote end ${link.url} does not keep what is pushed to ${second.base}: the build is not there after the push.`,
    true,
  );
}

type Attempt = OpenLink | MachineFacts;

async function attemptLink(
  link: Link,
  buildHash: string,
  { connectMaxMs, signal, onLine, onBytes, onEnd }: OpenLinkOptions,
): Promise<Attempt> {
  const child = startLinkProcess(link.argv(startArguments(buildHash, link.cwd)));
  const noise = { stdout: "", stderr: "" };
  const probed: string[] = [];
  const result = deferred<Greeting | MachineFacts | LinkEnd>();
  let greeted = false;
  const lines = new FrameLines((line) => {
    if (greeted) return onLine(line);
    const greeting = parseGreeting(line);
    if (greeting) {
      greeted = true;
      return result.resolve(greeting);
    }
    if (isProbeLine(line)) probed.push(line);
    noise.stdout = `${noise.stdout}${line}\n`.slice(-REMOTE_NOISE_MAX_CHARS);
    if (line.trimEnd() === "nacre-probe end") result.resolve(readFacts(probed));
  });
  const fail = () => child.kill();
  signal.addEventListener("abort", fail, { once: true });
  let broken: unknown;
  let before = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    if (broken !== undefined) return;
    try {
      if (greeted) onBytes();
      else before += chunk.length;
      if (before > REMOTE_BEFORE_GREETING_MAX_BYTES) throw tooMuchBefore(link);
      lines.push(chunk);
    } catch (error) {
      // End this connection. After the greeting, the channel resumes on a new connection.
      broken = error;
      fail();
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    noise.stderr = `${noise.stderr}${text}`.slice(-REMOTE_NOISE_MAX_CHARS);
  });
  // Wait for the end of stdout too: the program can exit before this process has read its last output.
  const closed = new Promise<void>((resolve) => child.stdout.once("close", () => resolve()));
  void child.ended.then(async (end) => {
    await within(REMOTE_LINK_END_MS, closed);
    if (greeted) onEnd(broken);
    else result.resolve(end);
  });
  const settled = await within(connectMaxMs, result.promise);
  signal.removeEventListener("abort", fail);
  if (settled !== undefined && "epoch" in settled) return openedLink(child, settled);
  fail();
  if (settled !== undefined && "nodes" in settled) return settled;
  if (broken instanceof LinkFailure) throw broken;
  throw attemptFailure(link, settled ?? "silent", noise);
}

function openedLink(child: LinkProcess, greeting: Greeting): OpenLink {
  // An idle link must not keep the host process alive. A pending request keeps it alive (holdEventLoop).
  child.unref();
  return {
    greeting,
    write: (line) => void child.stdin.write(line),
    close: () => child.kill(),
    finish: () => {
      child.stdin.end();
      void within(REMOTE_LINK_END_MS, child.ended).then(() => child.kill());
    },
  };
}

function tooMuchBefore({ url }: Link): LinkFailure {
  return new LinkFailure(
    `The remote end ${url} cannot be used: it printed more than ${REMOTE_BEFORE_GREETING_MAX_BYTES} bytes before the greeting. Check what its login shell prints.`,
    false,
  );
}

/**
 * If the relay has printed why it refuses, uses that reason as the cause, and ignores what the client program has added
 * to it.
 */
function attemptFailure(
  link: Link,
  end: LinkEnd | "silent",
  noise: { stdout: string; stderr: string },
): LinkFailure {
  const [, refusal] = /^nacre-refused serve (.*)$/m.exec(noise.stdout) ?? [];
  if (refusal !== undefined)
    return new LinkFailure(`The remote end ${link.url} cannot be used: ${printableLine(refusal)}`, true);
  if (/^nacre-refused cwd$/m.test(noise.stdout)) {
    return new LinkFailure(
      `The remote end ${link.url} has no directory ${link.cwd} that can be entered. Correct cwd in the URL.`,
      true,
    );
  }
  return explainLinkFailure(link, end, noise);
}
