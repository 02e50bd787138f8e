// Reads the status of a pod, and waits until its containers are ready. Polls with `kubectl get`, because `kubectl wait`
// needs the rights to list and watch, and does not report why a pod never becomes ready.
import { monotonicMs } from "../../support/clock.ts";
import { NacreError } from "../../support/errors.ts";
import { FLEET_POLL_MAX_MS, FLEET_POLL_MS, FLEET_READY_MAX_MS } from "../../support/limits.ts";
import { sleep } from "../../support/timing.ts";
import { askEngine } from "./fleet-engine.ts";

/** The reason why a container is waiting or has ended. */
interface ContainerReport {
  readonly reason?: string;
  readonly message?: string;
}

interface ContainerState {
  readonly waiting?: ContainerReport;
  readonly terminated?: ContainerReport;
}

/** The parts of a pod's record that nacre reads. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly { readonly state?: ContainerState }[];
  };
}

export const ENDED_PHASES: readonly string[] = ["Failed", "Succeeded"];

/** Reasons after which it is useless to wait any longer. */
const FINAL_REASONS: readonly string[] = [
  ...["ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError"],
  ...["RunContainerError", "CrashLoopBackOff"],
];

/** `getPod`: the argument list that prints the pod as JSON. Throws an error with the reason from Kubernetes. */
export async function untilReady(name: string, getPod: readonly string[]): Promise<void> {
  const deadline = monotonicMs() + FLEET_READY_MAX_MS;
  for (let pauseMs = FLEET_POLL_MS; ; pauseMs = Math.min(pauseMs * 2, FLEET_POLL_MAX_MS)) {
    const { status = {} } = JSON.parse(await askEngine("Asking for a pod", getPod)) as Pod;
    const { phase = "unknown", conditions = [] } = status;
    if (conditions.some(({ type, status: value }) => type === "Ready" && value === "True")) return;
    const hasEnded = ENDED_PHASES.includes(phase);
    const isFinal =
      hasEnded || containerReports(status).some(({ reason = "" }) => FINAL_REASONS.includes(reason));
    if (isFinal || monotonicMs() > deadline) {
      const reason = reasonOf(status) ?? `its phase is ${phase}`;
      throw new NacreError(
        "unavailable",
        `The pod ${name} did not become ready: ${reason}. Check the image, the quotas and the nodes of the cluster.`,
      );
    }
    await sleep(pauseMs);
  }
}

type PodStatus = NonNullable<Pod["status"]>;

function containerReports({ containerStatuses = [] }: PodStatus): readonly ContainerReport[] {
  return containerStatuses.flatMap(({ state }) => state?.waiting ?? state?.terminated ?? []);
}

/** The first reason that Kubernetes reports for a container, then for the pod, then for an unmet condition. */
function reasonOf(status: PodStatus): string | undefined {
  const unmet = (status.conditions ?? []).filter(({ status: value }) => value === "False");
  const report = [...containerReports(status), status, ...unmet].find(({ reason }) => reason !== undefined);
  if (report?.reason === undefined) return undefined;
  return report.message === undefined
    ? report.reason
    : `${report.reason} (${report.message.replace(/\.$/, "")})`;
}
