import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";

const world = useFileTools();
const { kit } = world;

describe("an approval of a write", () => {
  test("is requested with a command that has the same effect, and counts only for the same content", async () => {
    const asked: string[] = [];
    const approve = ({ command }: { readonly command: string }) => {
      asked.push(command);
      return asked.length === 1;
    };
    const file_path = join(world.work(), ".git/hooks/pre-commit");
    const first = await kit().call("Write", { file_path, content: "a" }, { approve });
    expect(first).toMatchObject({ success: true });
    expect(asked[0]).toMatch(
      /^mkdir -p -- '\S+' && tee -- '\S+pre-commit' # Write: 1 bytes, sha256 [0-9a-f]{12}$/,
    );
    const second = await kit().call("Write", { file_path, content: "b" }, { approve });
    expect(second).toMatchObject({ code: "approval_refused", metadata: { rule: "write-hooks" } });
    expect(asked[1]).not.toBe(asked[0]);
    expect(readFileSync(file_path, "utf8")).toBe("a");
  });

  test("appears in the audit log with its verdict", async () => {
    const verdicts: string[] = [];
    kit().on("verdict", ({ command, verdict }) => verdicts.push(`${verdict} ${command}`));
    await kit().call("Write", { file_path: "a.txt", content: "a" });
    expect(verdicts).toEqual([expect.stringMatching(/^allow tee -- '\S+a\.txt' # Write: /)]);
  });
});
