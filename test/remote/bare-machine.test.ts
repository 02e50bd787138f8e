// The first connection to machines that lack something, with real file systems, programs and limits.
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToolkit } from "../../src/toolkit.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { CANNOT_MOUNT, canMount } from "../fixtures/special-host.ts";
import { addLibraries, glibcMachine, muslMachine, noMusl } from "./bare-machine.ts";
import { failureOf } from "./contract.ts";

const directory = useLeakProof();
const SECOND_CONNECTION_MAX_BYTES = 10_000;
const isRoot = process.getuid?.() === 0;

/** Mounts a small file system at each directory in which nacre can install a build. */
function mounting(root: string, options: string): string[] {
  const mounts = ["home", "tmp", "var/tmp", "run"].map(
    (name) => `mount -t tmpfs -o ${options} nacre-test ${join(root, name)}`,
  );
  return ["unshare", isRoot ? "-m" : "-rm", "sh", "-c", `${mounts.join(" && ")} && exec "$@"`, "sh"];
}

describeSandboxed("a machine without Node", () => {
  test("gets nacre and Node with the first connection, and almost no data with the second", async () => {
    const dir = directory();
    const machine = glibcMachine(dir);
    addLibraries(machine);
    const client = join(dir, "client.sh");
    // Record what nacre sends. The pipe also ends the machine when nacre closes the link.
    const [first = "", exec = ""] = readFileSync(client, "utf8").split("\n");
    writeFileSync(client, `${first}\ntee ${dir}/sent.$(date +%s%N) | ${exec.replace("exec ", "")}\n`);
    chmodSync(client, 0o755);
    const sent = () =>
      readdirSync(dir)
        .filter((name) => name.startsWith("sent."))
        .reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    const run = async () => {
      await using kit = await createToolkit({ remote: machine.url });
      return (await kit.run("echo $((6 * 7))")).stdout;
    };
    expect(await run()).toBe("42\n");
    const pushed = sent();
    expect(pushed).toBeGreaterThan(1_000_000);
    expect(await run()).toBe("42\n");
    expect(sent() - pushed).toBeLessThan(SECOND_CONNECTION_MAX_BYTES);
  });

  test("and without a library that Node needs is refused with the name of the package", async () => {
    const machine = glibcMachine(directory());
    addLibraries(machine, "libstdc++");
    expect(await failureOf(machine.url)).toMatch(
      /cannot run nacre: Node does not run there: the library libstdc\+\+\.so\.6 is missing\. Install the package libstdc\+\+6/,
    );
  });

  test("and with another architecture is refused, and the message names both architectures", async () => {
    expect(await failureOf(glibcMachine(directory(), ["linux32"]).url)).toMatch(
      /it has no Node, and the Node of this machine \(\w+, glibc\) does not fit there \(i686, glibc\)\. Install Node/,
    );
  });

  test("and with musl is refused, and the message names both C libraries", async ({ skip }) => {
    skip(noMusl !== undefined, noMusl);
    expect(await failureOf(muslMachine(directory()).url)).toMatch(
      /it has no Node, and the Node of this machine \(\w+, glibc\) does not fit there \(\w+, musl\)\. Install Node/,
    );
  });

  test.for([
    ["without space", "size=8m", /has \d+ MB of free space, and nacre needs \d+ MB\. Free some space there/],
    ["mounted noexec", "noexec", /no directory from which programs can run: .*noexec.*XDG_CACHE_HOME/],
  ] as const)("and with directories %s is refused with the fix", async ([, options, message], { skip }) => {
    skip(!canMount(), CANNOT_MOUNT);
    const dir = directory();
    const refusal = await failureOf(glibcMachine(dir, mounting(join(dir, "root"), options)).url);
    expect(refusal).toMatch(message);
  });
});
