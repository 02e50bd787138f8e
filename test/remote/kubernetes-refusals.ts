// If a pod cannot be used, nacre reports the cause and the fix. It derives both from the messages of a real kubectl.
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { kubernetes } from "../../src/remote/fleet/kubernetes-engine.ts";
import { eventually } from "../fixtures/eventually.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";
import { failureOf } from "./contract.ts";
import { BUSYBOX, type KubernetesCluster, SANDBOX } from "./kubernetes-cluster.ts";
import { withVariable } from "./with-variable.ts";

function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "nacre-remote-"));
  onTestFinished(() => removeAfterRun(dir));
  return dir;
}

export function kubernetesRefusals(cluster: () => KubernetesCluster): void {
  /** Connects with a changed kubeconfig. Returns the message of the error. */
  const failureWith = async (url: string, change: (config: string) => string) => {
    const file = join(newDirectory(), "config");
    writeFileSync(file, change(readFileSync(cluster().adminConfig, "utf8")));
    return await withVariable("KUBECONFIG", file, () => failureOf(url));
  };

  test("an unknown pod, namespace or container is refused", async () => {
    const { url } = await cluster().lease();
    expect(await failureOf("kubernetes://default/no-such-pod")).toMatch(/no such pod.*kubectl get pods/s);
    expect(await failureOf("kubernetes://no-such-space/pod")).toMatch(
      /no such namespace.*kubectl get namespaces/s,
    );
    expect(await failureOf(`${url}?container=other`)).toMatch(/no such container.*\?container=NAME/s);
    expect(await failureOf(`${url}?cwd=/no/such/dir`)).toMatch(/no directory \/no\/such\/dir/);
  });

  test("a pod that has not started or has ended is refused", async () => {
    // No node has this label, so the pod waits for a node.
    const waiting = await cluster().createPod(
      { nodeSelector: { "no-such": "label" }, containers: [BUSYBOX] },
      "PodScheduled=False",
    );
    expect(await failureOf(`kubernetes://default/${waiting}`)).toMatch(
      /the container does not run.*describe pod/s,
    );
    const withoutImage = await cluster().createPod(
      { containers: [{ ...BUSYBOX, image: "docker.io/local/none:1" }] },
      "PodScheduled",
    );
    expect(await failureOf(`kubernetes://default/${withoutImage}`)).toMatch(
      /the container does not run.*describe pod/s,
    );
    const ended = await cluster().createPod({
      restartPolicy: "Never",
      containers: [{ ...BUSYBOX, command: ["sleep", "2"] }],
    });
    await eventually(async () =>
      expect(await failureOf(`kubernetes://default/${ended}`)).toMatch(/the pod has ended.*describe pod/s),
    );
  });

  test("an image without bash or without sh is refused", async () => {
    const pod = await cluster().createPod({ containers: [BUSYBOX] });
    const url = `kubernetes://default/${pod}`;
    expect(await failureOf(url)).toMatch(/has no bash.*Install the package bash/s);
    await cluster().kubectl("exec", pod, "--", "rm", "/bin/sh");
    expect(await failureOf(url)).toMatch(/has no sh.*Use an image with a shell/s);
  });

  test("an account without rights, or without the right to exec, is refused", async () => {
    const { url } = await cluster().lease();
    const asLimited = () =>
      withVariable("KUBECONFIG", cluster().limitedConfig, async () => await failureOf(url));
    expect(await asLimited()).toMatch(/does not allow it.*get on pods and create on pods\/exec/s);
    await cluster().kubectl("create", "role", "looks", "--verb=get", "--resource=pods");
    await cluster().kubectl("create", "rolebinding", "looks", "--role=looks", "--user=limited");
    try {
      await eventually(async () =>
        expect(await asLimited()).toMatch(/does not allow it.*cannot create resource "pods\/exec"/s),
      );
    } finally {
      await cluster().kubectl("delete", "rolebinding,role", "looks");
    }
  });

  test("a wrong token, an unreachable server, an unknown certificate and a missing configuration are reported", async () => {
    const { url } = await cluster().lease();
    const wrongToken = await failureWith(url, (config) => config.replace(/token: \w+/, "token: expired"));
    expect(wrongToken).toMatch(/does not accept your credentials.*Log in to the cluster again/s);
    const refused = await failureWith(url, (config) => config.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
    expect(refused).toMatch(/the API server cannot be reached.*Check the server's address/s);
    const unknown = await failureWith(url, (config) =>
      config.replace(/127\.0\.0\.1:\d+/, "no-such-host.invalid:1"),
    );
    expect(unknown).toMatch(/the API server cannot be reached/);
    const untrusted = await failureWith(url, (config) => config.replace(/certificate-authority-data.*/, ""));
    expect(untrusted).toMatch(/does not trust the certificate.*certificate authority/s);
    expect(await withVariable("KUBECONFIG", "/dev/null", () => failureOf(url))).toMatch(
      /no usable configuration.*Set KUBECONFIG/s,
    );
  });

  test("the error for a missing kubectl names the package that contains it", async () => {
    const bin = newDirectory();
    symlinkSync(process.execPath, join(bin, "node"));
    expect(await withVariable("PATH", bin, () => failureOf("kubernetes://default/pod"))).toMatch(
      /kubectl was not found on PATH.*kubernetes-client/s,
    );
  });

  test("a leased pod gets a CPU request, unless its template has one", async () => {
    const requestOf = async (resources: Readonly<Record<string, unknown>>) => {
      const podTemplate = { spec: { containers: [{ ...BUSYBOX, resources }] } };
      const engine = kubernetes({ namespace: "default", podTemplate });
      const { id } = await engine.lease({ name: "requests-cpu", owner: "test", deadlineSeconds: 60 });
      const output = ["-o", "jsonpath={.spec.containers[0].resources.requests.cpu}"];
      const request = await cluster().kubectl("get", "pod", id, ...output);
      await engine.release(id);
      await cluster().kubectl("wait", `pod/${id}`, "--for=delete", "--timeout=60s");
      return request;
    };
    expect(await requestOf({ requests: { memory: "8Mi" } })).toBe("100m");
    expect(await requestOf({ requests: { cpu: "20m" } })).toBe("20m");
    expect(await requestOf({ limits: { cpu: "30m" } })).toBe("30m");
  });

  test("the error about a pod that cannot start names the reason that Kubernetes gives", async () => {
    const request = { name: "no-image", owner: "test", deadlineSeconds: 60 };
    const lease = (container: Readonly<Record<string, unknown>>) =>
      kubernetes({ namespace: "default", podTemplate: { spec: { containers: [container] } } }).lease(request);
    await expect(lease({ ...SANDBOX, image: "docker.io/local/none:1" })).rejects.toThrow(/ErrImageNeverPull/);
    // If a pod never started, kubelet still waits for its grace period before it removes the pod.
    await eventually(
      async () => expect((await cluster().engine.list()).filter(({ id }) => id === "no-image")).toEqual([]),
      300_000,
    );
    await expect(lease({ ...SANDBOX, command: ["no-such-program"] })).rejects.toThrow(/no-such-program/);
  });
}
