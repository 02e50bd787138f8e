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

test.each([
  "bash: line 1: /srv/out/foo: Read-only file system",
  "mkdir: cannot create directory ‘/srv/out/y’: Read-only file system",
  "OSError: [Errno 30] Read-only file system: '/srv/out/zz'",
  "Error: EROFS: read-only file system, open '/srv/out/q'",
  "touch: /home/dev/.ssh/authorized_keys: Read-only file system",
])(
  "the note on a write to a read-only path names the option, and repeats no part of the output: %s",
  (output) => {
    const [note = "", ...others] = notesOn(output);
    expect(others).toEqual([]);
    expect(note).toContain("(--writable)");
    expect(note).not.toMatch(/srv|home|ssh/);
  },
);

test.each([
  "touch: cannot touch '.git/hooks/x': Read-only file system",
  "touch: cannot touch '/w/.nacre/x': Read-only file system",
])("the note on a write to a protected path of the workspace does not name the option: %s", (output) => {
  expect(notesOn(output).join()).not.toContain("--writable");
});

test.each([
  "chmod: changing permissions of 'x': Operation not permitted",
  "cp: preserving permissions for 'y': Operation not permitted",
  "tar: x: Cannot change mode to rwsr-xr-x: Operation not permitted",
  "install: cannot change permissions of 'x': Operation not permitted\nchmod: Operation not permitted",
])("the note on a refused change of mode explains the setuid bit: %s", (output) => {
  expect(notesOn(output)).toEqual([expect.stringContaining("setuid bit")]);
});

test.each([
  "warning: failed to remove .nacre/: Device or resource busy",
  "rm: cannot remove '.nacre': Device or resource busy",
  "rmdir: failed to remove '/w/.nacre': Device or resource busy",
])("the note on a failed removal of .nacre explains the placeholder: %s", (output) => {
  expect(notesOn(output)).toEqual([expect.stringContaining("git clean -e .nacre")]);
});

test("a failed removal of another directory gets no note about .nacre", () => {
  expect(notesOn("rm: cannot remove 'mnt': Device or resource busy")).toEqual([]);
});

test("a command that succeeds, or runs without a sandbox, gets no note", () => {
  const output = "touch: cannot touch '/srv/out/x': Read-only file system\n.nacre/: Device or resource busy";
  expect(notesOn(output, { exitCode: 0 })).toEqual([]);
  expect(notesOn(output, { sandbox: { ...confinement, driver: "none" } })).toEqual([]);
});
