// Starts a pod on a real Kubernetes on this machine, for bench/remote.mjs. Run `npm run remote -- kubernetes` first: it
// builds the cluster's programs (scripts/kubernetes-build.sh).
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PATHS = ["/usr/bin", "/usr/lib", "/usr/lib64"];

/** Returns undefined if the programs of the cluster are not built. Puts kubectl on PATH. */
export function startPod(dir) {
  const cache = process.env.KUBERNETES_CACHE ?? join(root, ".cache/kubernetes");
  if (!existsSync(join(cache, "bin/kubelet"))) return undefined;
  // The image has only directories. The pod mounts the programs of this machine into it.
  const tree = join(dir, "pod-root");
  for (const path of [...PATHS, "/tmp", "/root", "/proc", "/dev", "/sys", "/etc", "/run"])
    mkdirSync(join(tree, path), { recursive: true });
  const image = join(dir, "pod-root.tar");
  const links = ["bin", "lib", "lib64"].map((name) => `ln -s usr/${name} ${name}`).join("; ");
  execFileSync("sh", ["-c", `cd "$1" && ${links} && tar -cf "$2" .`, "sh", tree, image]);
  const kept = process.env.KUBERNETES_STATE;
  const state = kept ?? join(dir, "cluster");
  const env = { ...process.env, KUBERNETES_CACHE: cache, KUBERNETES_IMAGES: `bench:1=${image}` };
  const script = (name) =>
    execFileSync("bash", [join(root, "scripts", name), state], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
  script("kubernetes-up.sh");
  process.env.KUBECONFIG = join(state, "admin.kubeconfig");
  process.env.PATH = `${cache}/tools/usr/bin:${process.env.PATH}`;
  const name = `bench-${process.pid}`;
  const container = {
    name: "sandbox",
    image: "docker.io/local/bench:1",
    imagePullPolicy: "Never",
    // Request a CPU: otherwise the kernel gives the pod only a five-hundredth of the CPU share of any other process.
    resources: { requests: { cpu: "1" } },
    command: ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"],
    volumeMounts: PATHS.map((path) => ({ name: volumeOf(path), mountPath: path, readOnly: true })),
  };
  const volumes = PATHS.map((path) => ({ name: volumeOf(path), hostPath: { path } }));
  const spec = { restartPolicy: "Never", containers: [container], volumes };
  const manifest = join(dir, "pod.json");
  writeFileSync(manifest, JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec }));
  const kubectl = (...args) => execFileSync("kubectl", args, { stdio: ["ignore", "ignore", "inherit"] });
  kubectl("create", "-f", manifest);
  kubectl("wait", `pod/${name}`, "--for=condition=Ready", "--timeout=120s");
  return {
    url: `kubernetes://default/${name}`,
    argv: ["kubectl", "exec", "-i", name, "--"],
    end: () => {
      kubectl("delete", "pod", name, "--grace-period=1");
      if (kept === undefined) script("kubernetes-down.sh");
    },
  };
}

function volumeOf(path) {
  return path.slice(1).replaceAll("/", "-");
}
