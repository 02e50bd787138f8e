// Runs sandboxes as Slurm batch jobs. The body of each job runs the daemon. A daemon in a step would not survive,
// because Slurm kills all processes of a step when the step ends. nacre must be installed on a file system that the
// nodes share with this machine.
import { ownProgramFile } from "../../engine/own-build.ts";
import { monotonicMs } from "../../support/clock.ts";
import { NacreError } from "../../support/errors.ts";
import { FLEET_POLL_MS, FLEET_READY_MAX_MS } from "../../support/limits.ts";
import { checkOptions } from "../../support/option-checks.ts";
import { shellQuote } from "../../support/shell-quote.ts";
import { sleep } from "../../support/timing.ts";
import { askEngine, type FleetEngine, type ListedSandbox } from "./fleet-engine.ts";

export interface SlurmFleetOptions {
  /** @default the default partition */
  readonly partition?: string;
  /** Additional arguments for sbatch, for example `["--mem=4G"]`. */
  readonly args?: readonly string[];
}

const JOB_NAME = "nacre-fleet";

export function slurm(options: SlurmFleetOptions = {}): FleetEngine {
  checkOptions("slurm", options);
  const { partition, args = [] } = options;
  const release = async (id: string) => void (await askEngine("Cancelling a job", ["scancel", id]));
  return {
    name: "slurm",
    lease: async ({ owner, deadlineSeconds }) => {
      const flags = [
        ...["--parsable", `--job-name=${JOB_NAME}`, `--comment=${owner}`, "--output=/dev/null", "--ntasks=1"],
        `--time=${Math.ceil(deadlineSeconds / SECONDS_PER_MINUTE)}`,
        ...(partition === undefined ? [] : [`--partition=${partition}`]),
      ];
      const program = `${shellQuote(process.execPath)} ${shellQuote(ownProgramFile())}`;
      // Run the daemon in the background: sh runs a trap only after its foreground child has ended.
      const body = `d=/tmp/nacre-job-$SLURM_JOB_ID; mkdir -m 700 "$d" || exit 1
trap 'kill "$p"; wait "$p"; rm -rf "$d"; exit 143' TERM
NACRE_HOME=$d ${program} serve & p=$!
wait "$p"; rm -rf "$d"`;
      const printed = await askEngine("Submitting a job", ["sbatch", ...flags, ...args, `--wrap=${body}`]);
      const [id = ""] = printed.trim().split(";");
      try {
        await untilRunning(id);
      } catch (error) {
        await release(id).catch(() => {});
        throw error;
      }
      return { id, url: `slurm://${id}` };
    },
    list: async () => {
      const argv = ["squeue", "--noheader", "--me", `--name=${JOB_NAME}`, "--format=%i\t%k\t%T"];
      const lines = (await askEngine("Listing jobs", argv)).split("\n").filter((line) => line.trim() !== "");
      return lines.map((line): ListedSandbox => {
        const [id = "", owner = "", status = ""] = line.trim().split("\t");
        return { id, owner, status, hasEnded: false, engine: "slurm", url: `slurm://${id}` };
      });
    },
    release,
  };
}

const SECONDS_PER_MINUTE = 60;

async function untilRunning(id: string): Promise<void> {
  const deadline = monotonicMs() + FLEET_READY_MAX_MS;
  for (;;) {
    const state = (
      await askEngine("Asking for a job", ["squeue", "--noheader", `--jobs=${id}`, "--format=%T"])
    ).trim();
    if (state === "RUNNING") return;
    if (state === "" || monotonicMs() > deadline) {
      throw new NacreError(
        "unavailable",
        `The job ${id} did not start: its state is ${state || "unknown"}. See squeue and the partition's limits.`,
      );
    }
    await sleep(FLEET_POLL_MS);
  }
}
