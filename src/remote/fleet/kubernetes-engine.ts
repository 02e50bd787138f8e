// Runs sandboxes as Pods, through the user's kubectl. Kubernetes itself ends a Pod at its deadline.
import { messageOf, NacreError } from "../../support/errors.ts";
import { FLEET_CPU_REQUEST_MILLICORES_COUNT } from "../../support/limits.ts";
import { checkOptions } from "../../support/option-checks.ts";
import { askEngine, type FleetEngine, type ListedSandbox } from "./fleet-engine.ts";
import { ENDED_PHASES, type Pod, untilReady } from "./pod-status.ts";

export interface KubernetesFleetOptions {
  /** @default the namespace of the current context */
  readonly namespace?: string;
  readonly image?: string;
  /** A Pod template instead of an image: `metadata` and `spec`. Its first container is the sandbox. */
  readonly podTemplate?: { readonly metadata?: PlainObject; readonly spec: PlainObject };
}

type PlainObject = Readonly<Record<string, unknown>>;

const LABELS = { "app.kubernetes.io/managed-by": "nacre" };
const SELECTOR = "app.kubernetes.io/managed-by=nacre";
const OWNER = "nacre/owner";

/** PID 1 of the container: reaps orphans, and exits at once when Kubernetes sends SIGTERM. */
const FIRST_PROCESS = ["sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"];

export function kubernetes(options: KubernetesFleetOptions): FleetEngine {
  checkOptions("kubernetes", options);
  const { namespace, image, podTemplate } = options;
  if ((image === undefined) === (podTemplate === undefined)) {
    throw new NacreError("invalid_input", "kubernetes() needs either image or podTemplate.");
  }
  const kubectl = (...args: readonly string[]) => [
    "kubectl",
    ...(namespace === undefined ? [] : ["--namespace", namespace]),
    ...args,
  ];
  const urlOf = (pod: string) => `kubernetes://${namespace === undefined ? "" : `${namespace}/`}${pod}`;
  const remove = (id: string) =>
    kubectl("delete", "pod", id, "--wait=false", "--grace-period=1", "--ignore-not-found");
  return {
    name: "kubernetes",
    lease: async ({ name, owner, deadlineSeconds }) => {
      const manifest = podManifest(options, name, owner, deadlineSeconds);
      await askEngine("Creating a pod", kubectl("create", "-f", "-"), JSON.stringify(manifest));
      try {
        await untilReady(name, kubectl("get", "pod", name, "-o", "json"));
      } catch (error) {
        await askEngine("Removing a pod", remove(name)).catch((failure: unknown) => {
          throw leftBehind(name, error, failure);
        });
        throw error;
      }
      return { id: name, url: urlOf(name) };
    },
    list: async () => {
      const text = await askEngine(
        "Listing pods",
        kubectl("get", "pods", "--selector", SELECTOR, "-o", "json"),
      );
      const { items } = JSON.parse(text) as { readonly items: readonly Pod[] };
      return items.map(({ metadata, status }): ListedSandbox => {
        const { name, annotations, deletionTimestamp } = metadata;
        const phase = status?.phase ?? "unknown";
        return {
          id: name,
          owner: annotations?.[OWNER] ?? "",
          status: deletionTimestamp === undefined ? phase : "Terminating",
          hasEnded: ENDED_PHASES.includes(phase),
          engine: "kubernetes",
          url: urlOf(name),
        };
      });
    },
    release: async (id) => void (await askEngine("Removing a pod", remove(id))),
  };
}

function leftBehind(pod: string, cause: unknown, failure: unknown): NacreError {
  return new NacreError(
    "unavailable",
    `${messageOf(cause)}\nnacre could not remove the pod ${pod}. Remove it with: kubectl delete pod ${pod}. ${messageOf(failure)}`,
    { cause },
  );
}

function podManifest(
  { image, podTemplate }: KubernetesFleetOptions,
  name: string,
  owner: string,
  deadlineSeconds: number,
): PlainObject {
  const { metadata = {}, spec } = podTemplate ?? { spec: { containers: [{ name: "sandbox", image }] } };
  const [first = {}, ...others] = (spec["containers"] ?? []) as readonly PlainObject[];
  const labels = { ...Object(metadata["labels"]), ...LABELS };
  const annotations = { ...Object(metadata["annotations"]), [OWNER]: owner };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name, labels, annotations },
    spec: {
      terminationGracePeriodSeconds: 1,
      ...spec,
      restartPolicy: "Never",
      activeDeadlineSeconds: deadlineSeconds,
      containers: [
        { command: FIRST_PROCESS, ...first, resources: withCpuRequest(first["resources"]) },
        ...others,
      ],
    },
  };
}

/**
 * Adds a CPU request if there is neither a request nor a limit. If there is only a limit, Kubernetes itself adds a
 * request of the same size.
 */
function withCpuRequest(resources: unknown): PlainObject {
  const { requests, limits, ...others } = Object(resources) as Readonly<Record<string, PlainObject>>;
  const isSet = requests?.["cpu"] !== undefined || limits?.["cpu"] !== undefined;
  return {
    ...others,
    ...(limits === undefined ? {} : { limits }),
    requests: isSet ? { ...requests } : { ...requests, cpu: `${FLEET_CPU_REQUEST_MILLICORES_COUNT}m` },
  };
}
