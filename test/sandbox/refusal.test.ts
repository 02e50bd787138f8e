// If a sandbox is not available, nacre refuses with the cause and the fix.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { explainFailure, explainMissing, type SystemFacts } from "../../src/sandbox/explain.ts";
import { findBwrap } from "../../src/sandbox/find-program.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const { workspace } = world;

const DEBIAN: SystemFacts = {
  platform: "linux",
  kernel: "Linux version 6.1.0",
  isRoot: false,
  isContainer: false,
  apparmorRestricts: undefined,
  userNamespacesAllowed: undefined,
  userNamespacesMax: "96349",
};

test("missing bubblewrap is reported with the command that installs it", () => {
  const { why, fix } = explainMissing(DEBIAN);
  expect(why).toContain("bubblewrap (bwrap) is not installed");
  expect(fix).toContain("apt-get install bubblewrap");
  expect(explainMissing({ ...DEBIAN, platform: "darwin" }).why).toContain("only for Linux");
});

test.each<[string, Partial<SystemFacts>, string, RegExp]>([
  [
    "Ubuntu's AppArmor",
    { apparmorRestricts: "1" },
    "bwrap: setting up uid map: Permission denied",
    /apparmor_restrict_unprivileged_userns=0/,
  ],
  ["Docker", { isContainer: true }, "bwrap: Can't mount proc on /newroot/proc", /--security-opt/],
  [
    "WSL 1",
    { kernel: "Linux version 4.4.0-19041-Microsoft" },
    "bwrap: Creating new namespace failed",
    /wsl --set-version/,
  ],
  [
    "Debian's old switch",
    { userNamespacesAllowed: "0" },
    "bwrap: No permissions",
    /unprivileged_userns_clone=1/,
  ],
  [
    "no user namespaces",
    { userNamespacesMax: "0" },
    "bwrap: Creating new namespace failed",
    /max_user_namespaces/,
  ],
  ["an old bubblewrap", {}, "bwrap: Unknown option --disable-userns", /0\.8\.0 or later/],
  ["something else", {}, "bwrap: what a day", /docs\/sandbox\.md/],
])("the fix for %s is given", (_, facts, words, fix) => {
  const refusal = explainFailure(1, words, { ...DEBIAN, ...facts });
  expect(refusal.fix).toMatch(fix);
  expect(refusal.why).toContain(words);
});

test("bwrap is never taken from a directory that commands can write", () => {
  const bin = join(workspace, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\n");
  chmodSync(join(bin, "bwrap"), 0o755);
  expect(findBwrap([workspace, "/usr", "/bin"], bin)).toBeUndefined();
  expect(findBwrap(["/usr"], bin)).toBe(join(bin, "bwrap"));
  // nacre also ignores a bwrap that other users can write.
  chmodSync(join(bin, "bwrap"), 0o777);
  expect(findBwrap(["/usr"], bin)).toBeUndefined();
});

// With these options bwrap is in a writable directory, so nacre does not use it.
const impossible = { sandbox: "workspace-write", writable: ["/usr"] } as const;

test("nothing runs if the sandbox cannot be enforced", async () => {
  const manager = world.manager(impossible);
  await expect(manager.warmUp()).rejects.toThrow(
    /^The sandbox "workspace-write" cannot be enforced here, so nothing was run: bubblewrap .* apt-get install bubblewrap .*allowUnsandboxed/,
  );
  await expect(runIn(manager, "true", workspace)).rejects.toMatchObject({ code: "spawn_failed" });
  expect(manager.listShells()).toEqual([]);
});

test("with allowUnsandboxed, commands run without a sandbox, and every shell reports that", async () => {
  const manager = world.manager({ ...impossible, allowUnsandboxed: true });
  const shell = await runIn(manager, "echo ran", workspace);
  expect(shell.getAllOutput()).toBe("ran\n");
  expect(shell.confinement).toMatchObject({ driver: "none", profile: "off", network: "full" });
  expect(shell.confinement?.notEnforced.join()).toContain('the sandbox "workspace-write": bubblewrap');
});

test("an unknown profile is refused", () => {
  const sandbox = "strict" as "off";
  expect(() => world.manager({ sandbox })).toThrow(
    'Unknown sandbox "strict": use off, read-only, workspace-write.',
  );
});

describeSandboxed("allowUnsandboxed", () => {
  test("changes nothing if the sandbox works", async () => {
    const manager = world.manager({ sandbox: "read-only", allowUnsandboxed: true });
    const shell = await runIn(manager, "touch x", workspace);
    expect(shell.exitCode).toBe(1);
    expect(shell.confinement?.driver).toBe("bubblewrap");
  });
});
