import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("splitting words at IFS", () => {
  it.each(["rm$IFS-rf$IFS/", `rm\${IFS}-rf\${IFS}/`, "IFS=,; c=rm,-rf,/; $c"])(
    "a dangerous command in a word that bash splits at IFS is denied: %j",
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
