import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createToolkit, type Toolkit } from "../../src/toolkit.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
const kits: Toolkit[] = [];

afterEach(async () => {
  await Promise.all(kits.splice(0).map((kit) => kit.dispose()));
});

async function toolkit(base: string, scope = "team"): Promise<Toolkit> {
  const workingDir = join(base, "work");
  mkdirSync(workingDir, { recursive: true });
  const kit = await createToolkit({ workingDir, stateRoot: join(base, "state"), scope, durable: true });
  kits.push(kit);
  return kit;
}

async function start(kit: Toolkit, command: string): Promise<string> {
  const { metadata } = await kit.call("Bash", { command, run_in_background: true });
  return String(metadata.bash_id);
}

async function ended(kit: Toolkit, id: string): Promise<void> {
  await kit.shells.get(id)?.wait(20_000);
}

const marks = (base: string) =>
  readdirSync(join(base, "state", "unreported"), { recursive: true }).filter((name) =>
    String(name).includes("shell_"),
  );

describe("the end of a background shell", () => {
  test("is reported once, in the next result of any tool", async () => {
    const base = directory();
    const kit = await toolkit(base);
    const id = await start(kit, "echo one; echo two; exit 3");
    await ended(kit, id);
    const next = await kit.call("Bash", { command: "true" });
    expect(next.metadata).toMatchObject({
      finished: [{ bash_id: id, status: "failed", exit_code: 3, unread_lines: 2 }],
    });
    expect(next.notes.join()).toContain(`Background shell ${id} (`);
    const after = await kit.call("Bash", { command: "true" });
    expect(after.metadata).not.toHaveProperty("finished");
    expect(marks(base)).toEqual([]);
  });

  test("is not repeated after BashOutput or KillShell has shown it", async () => {
    const base = directory();
    const kit = await toolkit(base);
    const read = await start(kit, "true");
    const killed = await start(kit, "sleep 300");
    await kit.call("BashOutput", { bash_id: read, wait_for: "exit" });
    await kit.call("KillShell", { shell_id: killed });
    expect((await kit.call("Bash", { command: "true" })).metadata).not.toHaveProperty("finished");
    await eventually(() => expect(marks(base)).toEqual([]));
  });

  test("is not shown to another scope", async () => {
    const base = directory();
    const kit = await toolkit(base);
    const id = await start(kit, "true");
    await ended(kit, id);
    const other = await kit.call("Bash", { command: "true" }, { scope: "other" });
    expect(other.metadata).not.toHaveProperty("finished");
  });

  test("is reported in only one of two concurrent results", async () => {
    const kit = await toolkit(directory());
    const id = await start(kit, "true");
    await ended(kit, id);
    const results = await Promise.all(
      [1, 2, 3].map((n) => kit.call("Bash", { command: "true" }, { sessionId: `s${n}`, agentId: `a${n}` })),
    );
    expect(results.filter(({ metadata }) => "finished" in metadata)).toHaveLength(1);
  });

  test("is reported by only one of two hosts of the same scope", async () => {
    const base = directory();
    const [one, two] = [await toolkit(base), await toolkit(base)];
    const id = await start(one, "true");
    await ended(one, id);
    const results = await Promise.all([
      one.call("Bash", { command: "true" }),
      two.call("Bash", { command: "true" }),
    ]);
    expect(results.filter(({ metadata }) => "finished" in metadata)).toHaveLength(1);
  });

  test("is reported again only if the result that reported it was not delivered", async () => {
    const kit = await toolkit(directory());
    const id = await start(kit, "true");
    await ended(kit, id);
    const lost = await kit.call("Bash", { command: "true" }, { delivery: ({ dropped }) => dropped() });
    expect(lost.metadata).toHaveProperty("finished");
    expect((await kit.call("Bash", { command: "true" })).metadata).toHaveProperty("finished");
    expect((await kit.call("Bash", { command: "true" })).metadata).not.toHaveProperty("finished");
  });
});

describe('bash_id "any"', () => {
  test("waits for the first shell that ends, and ignores ends that were already reported", async () => {
    const kit = await toolkit(directory());
    const old = await start(kit, "true");
    await kit.call("BashOutput", { bash_id: old, wait_for: "exit" });
    await start(kit, "sleep 300");
    const quick = await start(kit, "sleep 0.2; echo quick");
    const result = await kit.call("BashOutput", { bash_id: "any", wait_for: "exit" });
    expect(result).toMatchObject({ success: true, metadata: { bash_id: quick, waited_for: "exit" } });
    expect(result.output).toContain("quick");
    const late = await kit.call("BashOutput", { bash_id: "any", wait_for: "exit", wait_ms: 50 });
    expect(late.metadata).toMatchObject({ waited_for: "timeout" });
    await kit.shells.killAll();
  });

  test("is refused if there is no background shell or no wait_for", async () => {
    const kit = await toolkit(directory());
    expect((await kit.call("BashOutput", { bash_id: "any", wait_for: "exit" })).code).toBe("shell_not_found");
    expect((await kit.call("BashOutput", { bash_id: "any" })).code).toBe("invalid_input");
  });
});
