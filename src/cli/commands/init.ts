// `nacre init`: prints the configuration for an MCP client, or adds it to the client's file and keeps a backup.
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InvalidArgumentError } from "commander";
import { messageOf, NacreError } from "../../support/errors.ts";
import { homeDirectory } from "../../support/home-directory.ts";
import { fsPath, linkTarget, resolvedPath, shownPath } from "../../support/path-text.ts";
import { systemCode } from "../../support/system-error.ts";
import type { CliIo } from "../cli-io.ts";
import { CLIENTS, type Client, clientOf, type ServerCommand } from "../clients.ts";
import { snippetFor, withServer } from "../configuration.ts";
import { EXIT } from "../exit-code.ts";
import { suggestion } from "../option.ts";

export interface InitOptions {
  readonly client: string;
  /** Options for `nacre mcp`. */
  readonly serverOptions: readonly string[];
  readonly write?: boolean;
  readonly user?: boolean;
}

export function initClient(io: CliIo, options: InitOptions): number {
  const { serverOptions, write = false, user = false } = options;
  const client = clientOf(options.client);
  if (!client) {
    const names = CLIENTS.map(({ name }) => name);
    throw new InvalidArgumentError(
      `There is no client ${options.client}. ${suggestion(options.client, names)}`,
    );
  }
  const server = serverCommand(serverOptions);
  const file = fileOf(io, client, user);
  const isProjectFile = !user && client.projectFile !== undefined;
  if (!write) {
    const flags = isProjectFile ? "--write" : "--write --user";
    io.stderr.write(
      `Configuration for ${client.title}, in ${shownPath(file)} (${flags} adds it to this file):\n\n`,
    );
    io.stdout.write(snippetFor(client, server));
    return EXIT.ok;
  }
  if (!user && !isProjectFile) {
    throw new NacreError(
      "invalid_input",
      `${client.title} reads only the user's file, ${shownPath(file)}. Nothing was changed: add --user to change it.`,
    );
  }
  const before = textOf(file);
  const after = withServer(before, client, server, file);
  if (after === before) {
    io.stderr.write(`${shownPath(file)} already contains this configuration; nothing was changed.\n`);
    return EXIT.ok;
  }
  const backup = replaceFile(file, after);
  io.stderr.write(`${client.title} is configured in ${shownPath(file)}.\n`);
  if (backup !== undefined) io.stderr.write(`The previous version is in ${shownPath(backup)}.\n`);
  io.stderr.write(`${client.nextStep(isProjectFile ? " in this directory" : "")}\n`);
  return EXIT.ok;
}

function fileOf({ cwd }: CliIo, { projectFile, userFile }: Client, user: boolean): string {
  return user || projectFile === undefined
    ? userFile(homeDirectory(), process.env)
    : resolve(cwd, projectFile);
}

/** `nacre` if it is in PATH; otherwise the full command of this process, for example in a clone. */
function serverCommand(options: readonly string[]): ServerCommand {
  const dirs = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  // npm and npx add node_modules/.bin to PATH only for the program that they start, so the client would not find nacre.
  const isLasting = (dir: string) => !/\/node_modules\/\.bin\/?$/.test(dir);
  if (dirs.filter(isLasting).some((dir) => isExecutable(join(dir, "nacre"))))
    return { command: "nacre", args: ["mcp", ...options] };
  const program = process.argv[1] ?? fileURLToPath(import.meta.url);
  return { command: process.execPath, args: [resolve(program), "mcp", ...options] };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The content of the file; empty if it does not exist. */
function textOf(file: string): string {
  try {
    // Reading a fifo would block.
    if (!statSync(fsPath(file)).isFile()) throw new Error("it is not a file");
    return readFileSync(fsPath(file), "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return "";
    throw new NacreError(
      "internal",
      `${shownPath(file)} cannot be read and was not changed: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Replaces the file atomically, so that no reader sees half of it. Returns the path of the backup. */
function replaceFile(path: string, text: string): string | undefined {
  const created: string[] = [];
  try {
    const exists = existsSync(fsPath(path));
    // Replace the target of a link, not the link.
    const file = exists ? resolvedPath(path) : danglingTarget(path);
    mkdirSync(fsPath(dirname(file)), { recursive: true });
    const mode = exists ? statSync(fsPath(file)).mode & 0o777 : 0o600;
    const backup = exists ? freeName(`${file}.bak`) : undefined;
    if (backup !== undefined) {
      // "wx" does not overwrite the backup of another nacre that runs at the same time.
      closeSync(openSync(fsPath(backup), "wx", mode));
      created.push(backup);
      copyFileSync(fsPath(file), fsPath(backup));
    }
    const temporary = `${file}.nacre-new.${process.pid}`;
    created.push(temporary);
    writeFileSync(fsPath(temporary), text, { mode, flag: "w" });
    renameSync(fsPath(temporary), fsPath(file));
    return backup;
  } catch (cause) {
    for (const file of created) rmSync(fsPath(file), { force: true });
    throw new NacreError(
      "internal",
      `${shownPath(path)} cannot be written and was not changed: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** The target of a dangling link; the path itself if it is not a link. */
function danglingTarget(path: string): string {
  try {
    return danglingTarget(resolve(dirname(path), linkTarget(path)));
  } catch {
    return path;
  }
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let number = 2; existsSync(fsPath(name)); number++) name = `${wanted}-${number}`;
  return name;
}
