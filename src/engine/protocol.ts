// The messages between a host and its keeper.
//
// Requests, on the keeper's stdin: fields that each end with NUL. The first field names the request.
//   env NAME COUNT NAME=VALUE...                         an environment for later slots
//   slot GENERATION DIR TAG CAP_KIB STREAMS ENV          fork a shim whose command waits for its job
//   log NAME FIFO FILE CAP_KIB                           fork a logger into FILE; it begins after an empty line.
//                                                        It reads from FIFO, or from an unnamed pipe if FIFO is ""
//   clean                                                no command has left a process; the last request of a host
// The job goes through the slot's pipe, not through the keeper: "" WORKING_DIR BASH_ENV STDIN COUNT NAME=VALUE...
//
// The lifeline, fd 3: the host keeps the lifeline open for as long as the host lives. When the next keeper is running,
// the host sends the field "relieved", which lets the deputy of the dead keeper exit.
//
// Answers, on the keeper's stdout: one line each, from the keeper and its shims.
//   hello VERSION PID START TAG_STATE BOOT_ID PID_NS BASH_VERSION    once, at the start
//   fatal REASON                                                     instead of hello
//   ready GENERATION SHIM_PID COMMAND_PID COMMAND_START OUT_LOGGER ERR_LOGGER    the slot waits for its job
//   logging NAME PID                                                 the logger waits for its empty line
//   no NAME                                                          the logger could not be started
//   gone                                                             the host is gone, and all its shells that are not durable have ended
//   failed GENERATION                                                the slot could not be started
//   exit GENERATION CODE FLAGS OUT_BYTES ERR_BYTES UPTIME            the exit record that is on disk
import { type ExitRecord, parseExitFields } from "./end-record.ts";

export const PROTOCOL_VERSION = 2;

export interface Hello {
  readonly kind: "hello";
  readonly version: number;
  readonly pid: number;
  readonly startTime: string;
  /** Whether the tag could be set and read back. */
  readonly tagged: boolean;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly bashVersion: string;
}

/** A bash that waits for its job. */
export interface ReadySlot {
  readonly generation: string;
  readonly shimPid: number;
  readonly commandPid: number;
  readonly commandStart: string;
  /** Equal if the streams are merged. */
  readonly outLogger: number;
  readonly errLogger: number;
}

export type Answer =
  | Hello
  | { readonly kind: "fatal"; readonly reason: string }
  | ({ readonly kind: "ready" } & ReadySlot)
  | { readonly kind: "logging"; readonly name: string; readonly pid: number }
  | { readonly kind: "no"; readonly name: string }
  | { readonly kind: "gone" }
  | { readonly kind: "failed"; readonly generation: string }
  | { readonly kind: "exit"; readonly generation: string; readonly record: ExitRecord }
  | { readonly kind: "unknown"; readonly line: string };

export function encodeFields(fields: readonly string[]): string {
  return fields.map((field) => `${field}\0`).join("");
}

/**
 * A directory as a field, with a slash at its end. If the name ends with an incomplete UTF-8 character, `read -d ''`
 * would otherwise read the NUL as the rest of that character and wait for another NUL.
 */
export function directoryField(directory: string): string {
  return directory.endsWith("/") ? directory : `${directory}/`;
}

export function parseAnswer(line: string): Answer {
  const [kind, ...args] = line.split(" ");
  switch (kind) {
    case "hello":
      return parseHello(args) ?? { kind: "unknown", line };
    case "fatal":
      return { kind, reason: args.join(" ") };
    case "ready": {
      const [generation, shimPid, commandPid, commandStart, outLogger, errLogger] = args;
      if (!generation || !shimPid || !commandPid || !commandStart || !outLogger || !errLogger)
        return { kind: "unknown", line };
      return {
        kind,
        generation,
        shimPid: Number(shimPid),
        commandPid: Number(commandPid),
        commandStart,
        outLogger: Number(outLogger),
        errLogger: Number(errLogger),
      };
    }
    case "no":
      return { kind, name: args[0] ?? "" };
    case "logging":
      return { kind, name: args[0] ?? "", pid: Number(args[1]) };
    case "gone":
      return { kind };
    case "failed":
      return { kind, generation: args[0] ?? "" };
    case "exit": {
      const [generation = "", ...fields] = args;
      const record = parseExitFields(fields.join(" "));
      return record ? { kind, generation, record } : { kind: "unknown", line };
    }
    default:
      return { kind: "unknown", line };
  }
}

function parseHello(args: readonly string[]): Hello | undefined {
  const [version, pid, startTime, tagState, bootId, pidNamespace, ...bashVersion] = args;
  if (!version || !pid || !startTime || !tagState || !bootId || !pidNamespace) return undefined;
  return {
    kind: "hello",
    version: Number(version),
    pid: Number(pid),
    startTime,
    tagged: tagState === "tag",
    bootId,
    pidNamespace,
    bashVersion: bashVersion.join(" "),
  };
}
