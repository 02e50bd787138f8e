import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding a command in variables", () => {
  it.each([
    "X=rm; $X -rf /",
    "D=/; rm -rf $D",
    `rm -rf \${U:-/}`,
    'T=; rm -rf "$T/"',
    'for d in /; do rm -rf "$d"; done',
    'set -- rm -rf /; "$@"',
    `x=(/ /home); rm -rf "\${x[@]}"`,
    "read -r p <<< /; rm -rf $p",
    "d=$(echo /); rm -rf $d",
    `p=/tmp; rm -rf "\${p%tmp}"`,
  ])("variables with a known value are expanded: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(['D=build; rm -rf "$D"', 'T=$(mktemp -d) && rm -rf "$T"', 'for d in a b; do rm -rf "$d"; done'])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
