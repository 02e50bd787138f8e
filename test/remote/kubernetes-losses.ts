// What nacre reports when a pod, its container, its daemon or the control plane fails while commands run.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createToolkit, type RemoteToolkit } from "../../src/toolkit.ts";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";
import { isLong } from "../fixtures/long.ts";
import { type KubernetesCluster, SANDBOX } from "./kubernetes-cluster.ts";
import { withVariable } from "./with-variable.ts";

const TIMES = { pingMs: 500, silentMaxMs: 3_000, lingerMs: 120_000, retryMaxMs: 500 };

/** A container whose first process reaps orphans, and whose state root survives its restart. */
const KEPT = {
  restartPolicy: "Always",
  containers: [
    {
      ...SANDBOX,
      command: ["sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"],
      env: [{ name: "NACRE_HOME", value: "/kept/state" }],
      volumeMounts: [{ name: "kept", mountPath: "/kept" }],
    },
  ],
  volumes: [{ name: "kept", emptyDir: {} }],
};

/** Starts a background shell that prints `word` and keeps running. Returns its id after the word has arrived. */
async function startShell(kit: RemoteToolkit<"shells">, word: string): Promise<string> {
  const { metadata } = await kit.call("Bash", {
    command: `echo ${word}; sleep 1000`,
    run_in_background: true,
  });
  const id = String(metadata.bash_id);
  await kit.shells.get(id)?.waitFor(word, 30_000);
  return id;
}

export function kubernetesLosses(cluster: () => KubernetesCluster): void {
  const connect = (url: string, durable = false) =>
    createToolkit({ remote: { url, ...TIMES }, policy: "off", durable });

  test("a deleted pod is reported as remote_lost, with the cause", async () => {
    const { id, url } = await cluster().lease();
    await using kit = await connect(url);
    const call = kit.call("Bash", { command: "sleep 1000" });
    await kit.run("true");
    await cluster().engine.release(id);
    const lost = await call;
    expect([lost.success, lost.code]).toEqual([false, "remote_lost"]);
    expect(lost.error).toMatch(/there is no such pod|the pod has ended/);
  });

  test("a killed daemon is reported as remote_lost, and its durable shells stay available", async () => {
    const { url } = await cluster().lease();
    await using kit = await connect(url, true);
    const bash_id = await startShell(kit, "up");
    const call = kit.call("Bash", { command: "touch /tmp/began; sleep 1000" });
    await kit.run("until [ -e /tmp/began ]; do sleep 0.05; done");
    // The lock of the daemon is a symbolic link whose target text is the daemon's PID and start time.
    const lock = "$(readlink ~/.local/state/nacre/serve/*.lock)";
    const killing = kit.run(`lock=${lock}; kill -KILL "\${lock%%-*}"`).catch((error: Error) => error);
    const lost = await call;
    expect([lost.success, lost.code]).toEqual([false, "remote_lost"]);
    expect(lost.error).toMatch(/restarted/);
    await killing;
    const output = await kit.call("BashOutput", { bash_id });
    expect(output.toWire()).toMatchObject({ status: "running", output: expect.stringContaining("up") });
    expect((await kit.call("KillShell", { shell_id: bash_id })).success).toBe(true);
  });

  test("a restarted container is reported as remote_lost; durable shells keep their output", async () => {
    const pod = await cluster().createPod(KEPT);
    await using kit = await connect(`kubernetes://default/${pod}`, true);
    const bash_id = await startShell(kit, "kept");
    const call = kit.call("Bash", { command: "sleep 1000" });
    await kit.run("true");
    // Ends the container's first process, so that kubelet restarts the container. This can also kill the exec itself.
    const killed = cluster().kubectl("exec", pod, "--", "sh", "-c", "kill -TERM 1");
    await killed.catch((error: Error) => expect(error.message).toMatch(/exit code 137/));
    const lost = await call;
    expect([lost.success, lost.code]).toEqual([false, "remote_lost"]);
    await using again = await eventually(() => connect(`kubernetes://default/${pod}`, true), 120_000);
    const output = await again.call("BashOutput", { bash_id });
    expect(output.toWire()).toMatchObject({ output: expect.stringContaining("kept") });
    expect(output.toWire()).not.toMatchObject({ status: "running" });
    expect((await again.run("echo again")).stdout).toBe("again\n");
  });

  test("the shells of a killed client end after the linger", async () => {
    const { url } = await cluster().lease();
    const script = `
      import { createToolkit } from ${JSON.stringify(join(root, "dist/index.js"))};
      const remote = { url: ${JSON.stringify(url)}, lingerMs: 1000 };
      for (const [name, durable] of [["ends", false], ["stays", true]]) {
        const kit = await createToolkit({ remote, durable });
        await kit.call("Bash", { command: "echo $$ >/tmp/" + name + "; exec sleep 1000", run_in_background: true });
      }
      setInterval(() => {}, 1000);`;
    const host = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    await using kit = await connect(url);
    await eventually(async () => expect((await kit.run("cat /tmp/ends /tmp/stays")).exitCode).toBe(0));
    host.kill("SIGKILL");
    await once(host, "exit");
    await eventually(async () => expect((await kit.run("kill -0 $(cat /tmp/ends)")).exitCode).toBe(1));
    expect((await kit.run("kill -0 $(cat /tmp/stays)")).exitCode).toBe(0);
    expect((await kit.run("ps -eo stat | grep -c Z")).stdout).toBe("0\n");
  });

  test("a restart of the API server loses nothing, even for an account with only two rights", async () => {
    const leases = await Promise.all([cluster().lease(), cluster().lease()]);
    const { kubectl, limitedConfig } = cluster();
    for (const [name, verb, resource] of [
      ["sees-pods", "get", "pods"],
      ["enters-pods", "create", "pods/exec"],
    ]) {
      await kubectl("create", "role", `${name}`, `--verb=${verb}`, `--resource=${resource}`);
      await kubectl("create", "rolebinding", `${name}`, `--role=${name}`, "--user=limited");
    }
    onTestFinished(
      async () => void (await kubectl("delete", "role,rolebinding", "sees-pods", "enters-pods")),
    );
    // Retry: an API server that has just started does not know the roles yet.
    await withVariable("KUBECONFIG", limitedConfig, async () => {
      const kits = await eventually(() => Promise.all(leases.map(({ url }) => connect(url))));
      const runs = kits.map((kit) =>
        kit.run("echo x >>/tmp/count; for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 1; done; exit 6", {
          timeoutMs: 300_000,
        }),
      );
      await Promise.all(kits.map((kit) => kit.run("until [ -s /tmp/count ]; do sleep 0.05; done")));
      await cluster().killApiServer();
      await cluster().startApiServer();
      for (const run of await Promise.all(runs))
        expect(run).toMatchObject({ stdout: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", exitCode: 6 });
      for (const kit of kits) {
        expect((await kit.run("cat /tmp/count")).stdout).toBe("x\n");
        await kit.dispose();
      }
    });
  });

  test.runIf(isLong)("with the default times, a stopped client program is replaced", async () => {
    const { url } = await cluster().lease();
    await using kit = await createToolkit({ remote: url, policy: "off" });
    const run = kit.run("echo x >>/tmp/count; sleep 2; cat /tmp/count; exit 3", { timeoutMs: 300_000 });
    await kit.run("until [ -s /tmp/count ]; do sleep 0.05; done");
    cluster().cuts.stop();
    expect(await run).toMatchObject({ stdout: "x\n", exitCode: 3 });
  });
}
