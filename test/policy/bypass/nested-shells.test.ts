import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("bypass by nested shells", () => {
  it.each([
    "sh -c 'rm -rf /'",
    "bash -lc 'cd /; rm -rf /'",
    "bash -o pipefail -c 'rm -rf /'",
    "eval 'rm -rf /'",
    "source <(echo 'rm -rf /')",
    ". /dev/stdin <<< 'rm -rf /'",
    "bash <<E\nrm -rf /\nE",
    "bash <<< 'rm -rf /'",
    "echo 'rm -rf /' | sh",
    "trap 'rm -rf /' EXIT",
    "alias ls='rm -rf /'; ls",
    "f() { rm -rf /; }; f",
    "PROMPT_COMMAND='rm -rf /' bash -i",
    "echo 'rm -rf /' > x.sh; bash x.sh",
  ])("texts inside texts are read: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each([
    "bash -c 'npm test'",
    "trap 'rm -f \"$tmp\"' EXIT",
    "alias ll='ls -l'",
    "cat <<E | grep rm\nrm -rf /\nE",
  ])("what only looks like it passes: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });
});
