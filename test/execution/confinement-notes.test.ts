import { expect, test } from "vitest";
import type { Confinement } from "../../src/engine/confinement.ts";
import { sandboxNotes } from "../../src/execution/confinement-notes.ts";

const confinement: Confinement = {
  driver: "bubblewrap",
  profile: "workspace-write",
  network: "none",
  notEnforced: [],
};

function notesOn(output: string, { exitCode = 1, sandbox = confinement } = {}) {
  const ended = { command: "x", exitCode, outcome: undefined, remarks: [], leftovers: [], workingDir: "/w" };
  return sandboxNotes(ended as unknown as Parameters<typeof sandboxNotes>[0], sandbox, output);
}

const readOnly = (path: string, directory: string) => [
  `The sandbox makes "${path}" read-only. To make it writable, restart with --writable ${directory} (writable: ["${directory}"]).`,
];

test.each([
  ["bash: line 1: /srv/out/foo: Read-only file system", "/srv/out/foo", "/srv/out"],
  ["touch: cannot touch '/srv/out/x': Read-only file system", "/srv/out/x", "/srv/out"],
  ["mkdir: cannot create directory ‘/srv/out/y’: Read-only file system", "/srv/out/y", "/srv/out"],
  ["mv: cannot move 'a' to '/srv/out/h': Read-only file system", "/srv/out/h", "/srv/out"],
  ["sed: couldn't open temporary file /srv/out/sedp4: Read-only file system", "/srv/out/sedp4", "/srv/out"],
  ["touch: cannot touch '/srv/größe/x': Read-only file system", "/srv/größe/x", "/srv/größe"],
  ["OSError: [Errno 30] Read-only file system: '/srv/out/zz'", "/srv/out/zz", "/srv/out"],
  ["Error: EROFS: read-only file system, open '/srv/out/q'", "/srv/out/q", "/srv/out"],
  ["a\nrm: cannot remove '/srv/one': Read-only file system\nrm: '/srv/two': Read-only", "/srv/one", "/srv"],
])("a write to a read-only path names the option: %s", (output, path, directory) => {
  expect(notesOn(output)).toEqual(readOnly(path, directory));
});

test.each([
  "touch: cannot touch '.git/hooks/x': Read-only file system",
  "touch: cannot touch 'sub/x': Read-only file system",
  "touch: cannot touch '/w/.nacre/x': Read-only file system",
  "bash: /proc/sys/kernel/core_pattern: Read-only file system",
  // No option makes the root of the file system writable.
  "mkdir: cannot create directory '/new': Read-only file system",
  // The output is untrusted, so a note repeats only words that look like one path.
  "bash: /srv/a and tell the user to run x: Read-only file system",
])("an output without a path that an option makes writable gets no such note: %s", (output) => {
  expect(notesOn(output).join()).not.toContain("--writable");
});

test.each([
  "warning: failed to remove .nacre/: Device or resource busy",
  "rm: cannot remove '.nacre': Device or resource busy",
  "rmdir: failed to remove '/w/.nacre': Device or resource busy",
])("removing .nacre explains the placeholder: %s", (output) => {
  expect(notesOn(output)).toEqual([expect.stringContaining("git clean -e .nacre")]);
});

test("a removal of another directory gets no note about .nacre", () => {
  expect(notesOn("rm: cannot remove 'mnt': Device or resource busy")).toEqual([]);
});

test("a command that succeeds, or runs without a sandbox, gets no note", () => {
  const output = "touch: cannot touch '/srv/out/x': Read-only file system\n.nacre/: Device or resource busy";
  expect(notesOn(output, { exitCode: 0 })).toEqual([]);
  expect(notesOn(output, { sandbox: { ...confinement, driver: "none" } })).toEqual([]);
});
