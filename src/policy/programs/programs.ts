// All programs that the policy knows, by name.

import { remembered } from "../remembered.ts";
import { agents } from "./agents.ts";
import { archives } from "./archives.ts";
import { containers } from "./containers.ts";
import { editors } from "./editors.ts";
import { fileServers } from "./file-servers.ts";
import { files } from "./files.ts";
import { find } from "./find.ts";
import { git } from "./git.ts";
import { interpreters } from "./interpreters.ts";
import { packageManagers } from "./package-managers.ts";
import { permissions } from "./permissions.ts";
import type { Program, ProgramFamily } from "./program-record.ts";
import { projectTools } from "./project-tools.ts";
import { system } from "./system.ts";
import { textTools } from "./text-tools.ts";
import { transfer } from "./transfer.ts";
import { wrappers } from "./wrappers.ts";

export const FAMILIES: readonly ProgramFamily[] = [
  ...[files, permissions, archives, transfer, git, textTools, find, interpreters, editors],
  ...[wrappers, packageManagers, projectTools, fileServers, containers, system, agents],
];

const namesIn = (list: string): readonly string[] => list.split(/\s+/);

const RECORDS: ReadonlyMap<string, Program> = new Map(
  FAMILIES.flatMap(({ programs }) =>
    Object.entries(programs).flatMap(([names, record]) =>
      namesIn(names).map((name): [string, Program] => [name, record]),
    ),
  ),
);

const FAMILIAR: ReadonlySet<string> = new Set(FAMILIES.flatMap(({ familiar }) => namesIn(familiar)));

const UNKNOWN_PROGRAM: Program = {};

/** The record of a program; an empty record for an unknown program. */
export const programNamed = remembered((name): Program => {
  const record = RECORDS.get(name);
  if (record) return record;
  const versioned = RECORDS.get(name.replace(/-?\d[\d.]*$/, ""));
  return versioned?.isVersioned ? versioned : UNKNOWN_PROGRAM;
});

/** Whether the program is well known. The policy treats any other program as a possible wrapper. */
export function isKnownProgram(name: string): boolean {
  return name === "" || FAMILIAR.has(name) || /^(python|pip|node|ruby|perl|php|lua)[\d.]+$/.test(name);
}

export function isWrapper(name: string): boolean {
  return programNamed(name).wraps !== undefined;
}

/** Whether the program is a shell, with or without a version in its name. */
export function isShell(name: string): boolean {
  return programNamed(name).isShell === true;
}
