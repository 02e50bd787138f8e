// A real API server, scheduler, controller manager, kubelet, etcd and containerd for the tests: scripts/kubernetes-up.sh.
// KUBERNETES_STATE names the state of a cluster to reuse and keep running. Without it, each run starts its own cluster.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { FleetEngine, LeasedSandbox } from "../../src/remote/fleet/fleet-engine.ts";
import { kubernetes } from "../../src/remote/fleet/kubernetes-engine.ts";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";
import { isAlive, textOf } from "../fixtures/processes.ts";
import { cutChildren, debianRootfs } from "./real-engines.ts";
import { SilentProxy } from "./silent-proxy.ts";

const run = promisify(execFile);

export interface KubernetesCluster {
  readonly engine: FleetEngine;
  /** The template of a sandbox, and the code that creates the same engine in another program. */
  readonly template: { readonly spec: Readonly<Record<string, unknown>> };
  readonly engineSource: string;
  /** The kubeconfigs of both accounts. KUBECONFIG names a copy of `adminConfig` with the address of a SilentProxy. */
  readonly adminConfig: string;
  readonly limitedConfig: string;
  kubectl(...args: readonly string[]): Promise<string>;
  /** Leases a pod with a sandbox. */
  lease(deadlineSeconds?: number): Promise<LeasedSandbox>;
  /** Creates a pod with this spec and waits for its condition. Returns its name. */
  createPod(spec: Readonly<Record<string, unknown>>, condition?: string): Promise<string>;
  /** The methods to cut the open links. */
  readonly cuts: Readonly<Record<"kill" | "stop" | "half-open", () => void>>;
  killApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  end(): Promise<void>;
}

/** A container that requests half of nacre's default CPU share. All pods of the tests then fit on two processors. */
export const SANDBOX = {
  name: "sandbox",
  image: "docker.io/local/nacre:1",
  imagePullPolicy: "Never",
  resources: { requests: { cpu: "50m" } },
};
export const BUSYBOX = { name: "sandbox", image: "docker.io/local/busybox:1", imagePullPolicy: "Never" };

export async function startKubernetes(dir: string): Promise<KubernetesCluster> {
  const kept = process.env["KUBERNETES_STATE"];
  const state = kept ?? join(dir, "cluster");
  const cache = process.env["KUBERNETES_CACHE"] ?? join(root, ".cache/kubernetes");
  const rootfs = join(dir, "rootfs.tar");
  debianRootfs(rootfs);
  const env = { ...process.env, KUBERNETES_CACHE: cache, KUBERNETES_IMAGES: `nacre:1=${rootfs}` };
  const script = (name: string) => run("bash", [join(root, "scripts", name), state], { env });
  const stop = async () => void (kept === undefined && (await script("kubernetes-down.sh")));
  const adminConfig = join(state, "admin.kubeconfig");
  const proxied = join(dir, "proxied.kubeconfig");
  const start = async () => {
    await script("kubernetes-up.sh");
    return await startProxy(adminConfig, proxied);
  };
  const proxy = await start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  process.env["KUBECONFIG"] = proxied;
  process.env["PATH"] = `${cache}/tools/usr/bin:${process.env["PATH"]}`;

  const kubectl = async (...args: readonly string[]) =>
    (await run("kubectl", ["--kubeconfig", adminConfig, ...args], { encoding: "utf8" })).stdout;
  const template = { spec: { containers: [SANDBOX], automountServiceAccountToken: false } };
  const options = { namespace: "default", podTemplate: template };
  const engine = kubernetes(options);
  const pods: string[] = [];
  const newName = () => {
    const name = `test-${randomBytes(6).toString("hex")}`;
    pods.push(name);
    return name;
  };
  return {
    engine,
    template,
    engineSource: `kubernetes(${JSON.stringify(options)})`,
    adminConfig,
    limitedConfig: join(state, "limited.kubeconfig"),
    kubectl,
    lease: (deadlineSeconds = 3_600) => engine.lease({ name: newName(), owner: "test", deadlineSeconds }),
    createPod: async (spec, condition = "Ready") => {
      const name = newName();
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
      const file = join(dir, `${name}.json`);
      writeFileSync(file, JSON.stringify(pod));
      await kubectl("create", "-f", file);
      await kubectl("wait", `pod/${name}`, `--for=condition=${condition}`, "--timeout=120s");
      return name;
    },
    cuts: {
      kill: () => cutChildren("kubectl"),
      stop: () => cutChildren("kubectl", "SIGSTOP"),
      "half-open": () => proxy.hush(),
    },
    killApiServer: async () => {
      const pid = Number(textOf(join(state, "pid/kube-apiserver")).split(" ")[0]);
      process.kill(pid, "SIGKILL");
      await eventually(() => {
        if (isAlive(pid)) throw new Error("the API server still runs");
      });
    },
    startApiServer: async () => void (await script("kubernetes-up.sh")),
    end: async () => {
      const options = ["--ignore-not-found", "--grace-period=1", "--wait=false"];
      try {
        await proxy.end();
        if (pods.length > 0) await kubectl("delete", "pod", ...pods, ...options);
      } finally {
        await stop();
      }
    },
  };
}

/** Starts a proxy to the API server of `config`, and writes to `proxied` the same configuration with its address. */
async function startProxy(config: string, proxied: string): Promise<SilentProxy> {
  const text = readFileSync(config, "utf8");
  const [address = "", port = ""] = /127\.0\.0\.1:(\d+)/.exec(text) ?? [];
  const proxy = await SilentProxy.listen("127.0.0.1", { host: "127.0.0.1", port: Number(port) });
  try {
    writeFileSync(proxied, text.replace(address, `127.0.0.1:${proxy.port}`));
  } catch (error) {
    await proxy.end();
    throw error;
  }
  return proxy;
}
