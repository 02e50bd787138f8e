// A sandbox hides /proc/1/environ: the first process of a machine or container often has secrets in its
// environment. The test creates a PID namespace with its own first process: without a sandbox, a command can
// read the environment of that process on any machine.
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SandboxProfile } from "../../src/engine/confinement.ts";
import { describeSandboxed, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { CANNOT_MOUNT, canMount, isRoot, useSpecialHosts } from "../fixtures/special-host.ts";

const { home, workspace } = useSandboxWorld();
const hosts = useSpecialHosts();
const SECRET = "FIRST-PROCESS-4b1d";

/** The host's own environment lacks the secret, so a command can only get it from the first process. */
const asChildOfFirst = [
  ...["unshare", ...(isRoot ? [] : ["-r"]), "--pid", "--fork", "--mount-proc"],
  ...["env", `SECRET=${SECRET}`, "bash", "-c", 'env -u SECRET "$@"; exit "$?"', "bash"],
];

async function read(sandbox: SandboxProfile): Promise<string> {
  const host = hosts({ prefix: asChildOfFirst, env: { HOME: home } });
  await host.manager({ stateRoot: join(home, `state-${sandbox}`), workspace, sandbox });
  const command = `tr '\\0' '\\n' </proc/1/environ | grep ^SECRET=; [[ \${SECRET-} ]] && echo inherited; echo done`;
  const { id } = await host.start({ command, workingDir: workspace, background: false });
  await host.wait(id);
  return await host.ask<string>("output", { id });
}

test("without a sandbox, the environment of the first process can be read", async ({ skip }) => {
  skip(!canMount(), CANNOT_MOUNT);
  expect(await read("off")).toBe(`SECRET=${SECRET}\ndone\n`);
});

describeSandboxed("the environment of the machine's first process", () => {
  test.each(["read-only", "workspace-write"] as const)("cannot be read in %s", async (profile) => {
    expect(await read(profile)).toBe("done\n");
  });
});
