import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("bypass by ifs", () => {
  it.each(["rm$IFS-rf$IFS/", `rm\${IFS}-rf\${IFS}/`, "IFS=,; c=rm,-rf,/; $c"])(
    "IFS splits what it touches: %j",
    (command) => {
      expect(verdictOf(command)).toBe("deny");
    },
  );

  it.each(["IFS=, read -r a b <<< 'x,y'"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
