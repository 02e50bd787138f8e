// Admits one file operation through the same admission as a command. The policy judges the command with the same effect
// (`cat -- PATH`, `tee -- PATH`), approvals show that command, and the audit log records it. So a file tool can never
// do what a command may not do, and there is no second set of rules.
//
//   admitFile
//     pathFor        the absolute path; a relative path starts at the session's directory
//     locate         the path without links, resolved inside the sandbox if there is one
//     checkRoots     the allowed roots
//     admit          the policy on both paths, approval (execution/admission.ts)
//
// The operation then opens the resolved path without following links. If the caller's path now resolves to another
// file, the operation starts again.
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { type Admitted, admit } from "../execution/admission.ts";
import type { ResolvedExecutionOptions } from "../execution/execution-options.ts";
import { readerOf, scopeOf } from "../execution/scope.ts";
import { sessionTarget } from "../execution/start-command.ts";
import type { ShellManager } from "../shell-manager.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { homeDirectory } from "../support/home-directory.ts";
import { FILE_ATTEMPTS_MAX_COUNT } from "../support/limits.ts";
import { isPathText, isWithin, resolvedPath, shownPath } from "../support/path-text.ts";
import { shellQuote } from "../support/shell-quote.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { Disk, Located } from "./disk/disk.ts";
import { LOCAL_DISK } from "./disk/local-disk.ts";
import { missingFile, movingPath, systemProblem } from "./file-problems.ts";
import { FileService } from "./file-service.ts";

export interface FileCall {
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
}

/** An admitted operation on one path. */
export interface AdmittedFile extends Located {
  /** The path as the caller wrote it, made absolute. */
  readonly path: string;
  /** The path for a message: the caller's path, and the path without links if it differs. */
  readonly shown: string;
  readonly admitted: Admitted;
  readonly disk: Disk;
  readonly service: FileService;
  /** The agent for which KnownFiles stores the version of the file. */
  readonly reader: string;
}

export type FileEffect =
  | { readonly kind: "read" }
  | { readonly kind: "write"; readonly tool: string; readonly what: string };

/**
 * Admits the operation, then calls `work`. If the path resolves to another file by then, `work` returns "moved", and
 * both steps are repeated.
 */
export async function withAdmittedFile<T>(
  given: string,
  effect: FileEffect,
  call: FileCall,
  work: (file: AdmittedFile) => Promise<T | "moved">,
): Promise<T> {
  const path = pathFor(given, call);
  for (let attempts = 0; attempts < FILE_ATTEMPTS_MAX_COUNT; attempts++) {
    const file = await admitFile(path, effect, call);
    try {
      const done = await work(file);
      if (done !== "moved") return done;
    } catch (error) {
      throw systemProblem(error, path);
    }
  }
  throw movingPath(path);
}

/**
 * Describes the content of a write for its approval. An approval is bound to this text, so different content needs a
 * new approval.
 */
export function describeContent(bytes: Buffer | string): string {
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return `${Buffer.byteLength(bytes)} bytes, sha256 ${digest}`;
}

async function admitFile(
  path: string,
  effect: FileEffect,
  { context, options }: FileCall,
): Promise<AdmittedFile> {
  const manager = options.manager();
  const service = FileService.of(manager);
  const disk = await service.disk(context);
  const found = await disk.locate(path).catch((error: unknown) => ({ error }));
  const real = "error" in found ? path : found.real;
  checkRoots(path, real, manager.allowedRoots);
  if (disk !== LOCAL_DISK) checkShared(path, real, context, manager);
  const missingDirs = "error" in found ? 0 : found.missingDirs;
  const { env: _, ...rest } = context;
  const wanted = { command: commandFor(effect, path, real, missingDirs), background: false, session: null };
  const admitted = await admit(wanted, rest, options);
  // Throw this error only after the admission: a refusal must not reveal whether the path exists.
  if ("error" in found) throw systemProblem(found.error, path);
  const reader = `${scopeOf(context)}\0${readerOf(context)}`;
  const shown = real === path ? shownPath(path) : `${shownPath(path)} -> ${shownPath(real)}`;
  return { ...found, path, shown, admitted, disk, service, reader };
}

/** The command with the same effect. Single quotes preserve every character of a path. */
export function commandFor(effect: FileEffect, path: string, real: string, missingDirs: number): string {
  // Name the resolved path, too: the verdict then applies to the file that will be opened.
  const paths = (path === real ? [path] : [path, real]).map(shellQuote).join(" ");
  if (effect.kind === "read") return `cat -- ${paths}`;
  const parent = missingDirs > 0 ? `mkdir -p -- ${shellQuote(dirname(real))} && ` : "";
  return `${parent}tee -- ${paths} # ${effect.tool}: ${effect.what}`;
}

/** Returns the absolute path. Preserves `..`, because the name before `..` may be a link. */
export function pathFor(given: string, { context, options }: FileCall, parameter = "file_path"): string {
  const problem = given === "" ? "is empty" : given.includes("\0") ? "contains a NUL character" : undefined;
  if (problem !== undefined || !isPathText(given))
    throw new NacreError("invalid_input", `Parameter ${parameter} ${problem ?? "is not valid Unicode"}.`);
  if (given.startsWith("/")) return withoutDots(given);
  if (given === "~" || given.startsWith("~/")) return withoutDots(`${homeDirectory()}${given.slice(1)}`);
  return withoutDots(`${directoryOf({ context, options })}/${given}`);
}

/** The directory or file of a search, without links. Throws if it does not exist. */
export async function resolveSearchRoot(path: string, { context, options }: FileCall): Promise<string> {
  const manager = options.manager();
  const disk = await FileService.of(manager).disk(context);
  const found = await disk.locate(path).catch((error: unknown) => {
    throw systemProblem(error, path);
  });
  checkRoots(path, found.real, manager.allowedRoots);
  if (found.kind === undefined) throw missingFile(path, found);
  return found.real;
}

/** The directory that relative paths start at. */
export function directoryOf({ context, options }: FileCall): string {
  const target = sessionTarget(context, options);
  return target.find()?.directoryFor(target.named) ?? context.workingDir;
}

/** Turns `/a/./b//c` into `/a/b/c`. Preserves `..` and a final slash. */
function withoutDots(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return `/${parts.join("/")}${/[^/]\/$/.test(path) ? "/" : ""}`;
}

/** Throws for a path that is private to each sandbox, such as /tmp: commands would not see a file written there. */
function checkShared(
  path: string,
  real: string,
  { workingDir }: ExecutionContext,
  { confiner }: ShellManager,
): void {
  if (!/^\/(?:tmp|run)(?:\/|$)/.test(real) || confiner.isVisible(dirname(real), workingDir)) return;
  throw new NacreError(
    "invalid_input",
    `${shownPath(path)} is private to each sandbox: commands and file tools do not see each other's files there. Use a directory in the workspace.`,
  );
}

function checkRoots(path: string, real: string, allowedRoots: readonly string[] | undefined): void {
  if (!allowedRoots) return;
  const roots = allowedRoots.flatMap((root) => attempt(() => resolvedPath(root)) ?? []);
  if (roots.some((root) => isWithin(real, root))) return;
  throw new NacreError(
    "invalid_input",
    `${shownPath(path)} is outside the allowed directories (${allowedRoots.map(shownPath).join(", ")}).`,
  );
}
