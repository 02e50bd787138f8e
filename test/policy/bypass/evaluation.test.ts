import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding a command in data that bash evaluates as code", () => {
  it.each([
    "echo $[ x='a[$(touch F)]', x ]",
    "echo $((a[$(id)]))",
    `echo \${x@P}`,
    "printf -v 'a[$(id)]' x",
    "test -v 'a[$(id)]'",
    "read 'a[$(id)]' <<< x",
    "declare -n r='a[$(id)]'",
    "unset 'a[$(id)]'",
    "x='a[$(id)]'; echo $((x))",
    "[[ -v 'a[$(id)]' ]]",
  ])("the policy asks about such data: %j", (command) => {
    expect(verdictOf(command)).toBe("ask");
  });

  it.each(["echo $((1+2))", "i=1; echo $((i+1))", `echo "\${a[0]}"`])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
