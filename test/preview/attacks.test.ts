// A previewed command, or a program that runs during a commit, must not reach files outside the workspace. It
// must not reach the layers, the state root, other users' files, or the mounts of the sandbox.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { isLong } from "../fixtures/long.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { snapshotOf } from "../fixtures/trees.ts";

const world = useFileTools({ with: ["preview"], policy: "off" });
const { kit, path, work } = world;
const isRoot = process.getuid?.() === 0;
const OTHER_USER = 65_534;
const RACES_COUNT = isLong ? 50 : 3;

describeSandboxed("a previewed command", () => {
  test.each<[string, string]>([
    ["writes outside of the workspace", "echo x >$OUTSIDE/new"],
    ["changes a file outside whose mode forbids it", "echo x >>$OUTSIDE/locked"],
    ["changes a mode outside", "chmod 777 $OUTSIDE/locked"],
    ["lists the state root", "[[ -n $(ls -A $STATE/previews 2>/dev/null) ]]"],
    ["finds a layer below the state root", "[[ -n $(find $STATE -name upper 2>/dev/null) ]]"],
    ["writes to the state root", "mkdir -p $STATE/previews/x"],
    ["leaves its root through a process", "ls /proc/*/root/$STATE/previews 2>/dev/null | grep ."],
    ["mounts a file system", "mount -t tmpfs none /mnt"],
    ["makes the root writable", "mount -o remount,rw,bind /"],
    ["unmounts the overlay", "umount $PWD || umount -l $PWD"],
    ["creates a user namespace", "unshare --user --map-root-user true"],
    ["creates a device", "mknod dev c 1 3"],
    ["creates a whiteout of the overlay", "mknod gone c 0 0"],
    ["changes a setting of the kernel", "echo x >/proc/sys/kernel/hostname"],
    ["reads accounts", "grep . /etc/shadow"],
  ])("never %s", async (_, attack) => {
    writeFileSync(join(world.outside(), "locked"), "theirs\n", { mode: 0o000 });
    const before = snapshotOf(world.outside());
    const setUp = `OUTSIDE=${world.outside()} STATE=${work()}/../state; STATE=$(dirname $PWD)/state`;
    const { stdout } = await kit().preview(
      `${setUp}\necho tried; { ${attack}; } >/dev/null && echo REACHED; true`,
    );
    expect(stdout).toBe("tried\n");
    expect(snapshotOf(world.outside())).toEqual(before);
  });

  test.skipIf(!isRoot)("cannot read a file of another user (needs root to create one)", async () => {
    const file = join(world.outside(), "secret");
    writeFileSync(file, "SECRET\n", { mode: 0o600 });
    chownSync(file, OTHER_USER, OTHER_USER);
    const { stdout, exitCode } = await kit().preview(`cat ${file}`);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
  });

  test.skipIf(!isRoot)(
    "has only the capability to ignore file modes, and in a sandbox no capability at all (needs root)",
    async () => {
      const show = "grep -E '^Cap(Eff|Prm|Bnd|Amb)' /proc/self/status | cut -f2 | sort -u";
      // CAP_DAC_OVERRIDE is number 1.
      expect(
        (await kit().preview(show)).stdout
          .trim()
          .split("\n")
          .every((set) => BigInt(`0x${set}`) <= 2n),
      ).toBe(true);
      const confined = await world.open({ sandbox: "workspace-write" });
      expect((await confined.preview(show)).stdout).toBe(`${"0".repeat(16)}\n`);
    },
  );
});

describeSandboxed("a program that swaps a directory for a link during a commit", () => {
  test("redirects no write out of the workspace", { timeout: 600_000 }, async () => {
    const target = join(world.outside(), "target");
    mkdirSync(target);
    for (const name of ["f", "gone"]) writeFileSync(join(target, name), "theirs\n");
    const before = snapshotOf(target);
    for (let round = 0; round < RACES_COUNT; round++) {
      mkdirSync(path("d"));
      for (const name of ["f", "gone"]) writeFileSync(path("d", name), "mine\n");
      const { previewId } = await kit().preview(
        "echo x >d/f; rm d/gone; for i in {1..30}; do echo $i >d/n$i; done; chmod 700 d",
      );
      const swap = `while [[ ! -e ${world.outside()}/stop ]]; do mv -T d aside && ln -s ${target} d && rm d; mv -T aside d; done; echo over`;
      const swapper = spawn("bash", ["-c", swap], { cwd: work(), stdio: ["ignore", "ignore", "ignore"] });
      const exited = once(swapper, "exit");
      try {
        await kit()
          .previews.commit(previewId)
          .catch((error: { code?: string }) => expect(error.code).toBe("conflict"));
      } finally {
        writeFileSync(join(world.outside(), "stop"), "");
        await exited;
      }
      rmSync(join(world.outside(), "stop"));
      expect(snapshotOf(target)).toEqual(before);
      if (existsSync(path("d"))) chmodSync(path("d"), 0o755);
      for (const name of ["d", "aside"]) rmSync(path(name), { recursive: true, force: true });
    }
  });
});
