import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("reaching a protected path from another working directory", () => {
  it.each([
    "cd / && rm -rf *",
    "pushd / && rm -rf *",
    "(cd / && rm -rf -- *)",
    "env -C / rm -rf .",
    "cd ../../.. && rm -rf *",
    "cd && rm -rf *",
    "cd / ; find . -delete",
  ])("deleting a protected directory after a change of directory is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["cd packages/a && rm -rf dist", "cd / && ls", "cd build && rm -rf *", "(cd /); rm -rf build"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );

  it.each([
    "cd build; rm -rf *",
    "cd build\nrm -rf *",
    "cd build 2>/dev/null; rm -rf *",
    "cd build || true; rm -rf *",
    "cd build || echo missing; rm -rf ./*",
    'cd "$X"; rm -rf *',
    "pushd build; rm -rf *",
    "cd build && make; rm -rf *",
    "cd build; find . -delete",
    "cd build; git clean -fdx",
    "cd build; rm -rf .",
    "cd build; rm -rf .git",
    "cd build; chmod -R 777 .",
    "cd /nonexistent/build; rm -rf *",
    "cd a; cd b; rm -rf *",
    "(cd build; rm -rf *)",
    "{ cd build; rm -rf *; }",
    "if true; then cd build; rm -rf *; fi",
    "for d in a b; do cd $d; rm -rf *; cd ..; done",
    "bash -c 'cd build; rm -rf *'",
    "set -e; cd build && make; rm -rf *",
    "set -e; { cd build; rm -rf *; } || true",
    "set -e; if cd build; then :; fi; rm -rf *",
    "set -e; set +e; cd build; rm -rf *",
    "! cd build; rm -rf *",
    "f() { cd build; }; f; rm -rf *",
    'cd build; rm -rf "$(pwd)"/*',
    'cd build; rm -rf "$PWD"/*',
    "cd build & rm -rf *",
    "command cd build; rm -rf *",
    "cd /tmp/nothere; rm -rf *",
    'cd build; D=$(pwd); rm -rf "$D"',
  ])("a command that is dangerous if the cd before it fails is not allowed: %j", (command) => {
    expect(verdictOf(command)).not.toBe("allow");
  });
});
