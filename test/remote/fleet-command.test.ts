// `nacre fleet` with client programs that are installed but not configured, and its excerpts of their output.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isOwnerGone } from "../../src/remote/fleet/fleet-engine.ts";
import { lastPrintedLines } from "../../src/remote/links/client-output.ts";
import { explainLinkFailure } from "../../src/remote/links/link-failure.ts";
import { parseRemote } from "../../src/remote/links/link-url.ts";
import { useCli } from "../cli/run-nacre.ts";

const { nacre, dir } = useCli();

/** Puts only these programs on PATH. */
function usePrograms(programs: Readonly<Record<string, string>>): void {
  const bin = join(dir(), "bin");
  mkdirSync(bin);
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", bin);
}

const LAST =
  "The connection to the server localhost:8080 was refused - did you specify the right host or port?";
const KUBECTL = `for i in 1 2 3 4 5; do
echo 'E0412 10:11:12.123456   12345 memcache.go:265] couldn'"'"'t get current server API group list: Get "http://localhost:8080/api": dial tcp 127.0.0.1:8080: connect: connection refused' >&2
done
echo '${LAST}' >&2
exit 1`;
const SQUEUE = `echo 'squeue: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host' >&2
echo 'squeue: fatal: Could not establish a configuration source' >&2
exit 1`;

test("each engine that is not configured gets one line, and the command fails if no engine answers", async () => {
  usePrograms({ kubectl: KUBECTL, squeue: SQUEUE });
  for (const action of ["ls", "clean"]) {
    const { code, stdout, stderr } = await nacre("fleet", action);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.split("\n")).toEqual([
      `nacre: kubernetes: Listing pods failed: kubectl ended with exit code 1: ${LAST}`,
      "nacre: slurm: Listing jobs failed: squeue ended with exit code 1: squeue: fatal: Could not establish a configuration source",
      "",
    ]);
  }
});

test("the command succeeds if any engine answers, but fails if the engine named by --engine fails", async () => {
  usePrograms({ kubectl: KUBECTL, docker: "exit 0" });
  expect(await nacre("fleet", "ls")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/no sandboxes\n$/),
  });
  expect((await nacre("fleet", "ls", "--engine", "docker")).code).toBe(0);
  const chosen = await nacre("fleet", "ls", "--json", "--engine", "kubernetes");
  expect([chosen.code, chosen.stdout]).toEqual([1, "[]\n"]);
});

test("without any client program, the command fails and names the missing programs", async () => {
  usePrograms({});
  expect(await nacre("fleet", "ls")).toEqual({
    code: 1,
    stdout: "",
    stderr: "nacre: no engine can be asked: none of docker, kubectl, squeue is on PATH\n",
  });
});

test("nacre fleet clean fails if it cannot remove a sandbox", async () => {
  const boot = "00000000";
  const { hostname } = await import("node:os");
  const owner = `${hostname()}.${boot}.1.1`;
  expect(isOwnerGone(owner)).toBe(true);
  usePrograms({
    docker: `case $1 in
ps) printf 'one\\t${owner}\\tUp\\trunning\\ntwo\\t${owner}\\tUp\\trunning\\n' ;;
rm) [ "$4" = one ] || { echo 'Error response from daemon: no' >&2; exit 1; } ;;
esac`,
  });
  expect(await nacre("fleet", "clean")).toEqual({
    code: 1,
    stdout: "docker://one  removed\n",
    stderr:
      "nacre: docker: Removing a container failed: docker ended with exit code 1: Error response from daemon: no\n",
  });
});

test("the excerpt of a client's output begins at a line, or ends at a word", () => {
  const limits = { maxLines: 3, maxChars: 30 };
  expect(lastPrintedLines("first line\nsecond line\nthird line is here\n", limits)).toBe(
    "third line is here",
  );
  expect(lastPrintedLines("a\nb\nc\nd\n", limits)).toBe("b | c | d");
  expect(lastPrintedLines("a line that is longer than all that may be shown", limits)).toBe(
    "a line that is longer than all …",
  );
  expect(lastPrintedLines("the cause\n\nRun 'docker run --help' for more information\n", limits)).toBe(
    "the cause",
  );
  expect(lastPrintedLines("x".repeat(40), limits)).toBe(`${"x".repeat(30)} …`);
  expect(lastPrintedLines("\n", limits)).toBe("");
});

test("a failure of srun before the greeting has a hint about Slurm, and quotes whole lines", () => {
  const link = parseRemote("slurm://42");
  const explain = (stderr: string) =>
    explainLinkFailure(link, { code: 1, signal: null }, { stdout: "", stderr }).message;
  const noise = "srun: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n";
  const message = explain(
    `${noise.repeat(4)}srun: error: fetch_config: DNS SRV lookup failed\nsrun: error: _establish_config_source: failed to fetch config\nsrun: fatal: Could not establish a configuration source\n`,
  );
  expect(message).toMatch(/has no configuration\. Run nacre on a machine where sinfo works.*SLURM_CONF/);
  expect(message).toMatch(/It printed: srun: /);
  expect(explain("srun: error: something else\n")).toMatch(
    /Check that sinfo works.*squeue --me.*nacre serve\. It printed: srun: error: something else$/,
  );
});
