// The error messages of srun when a step cannot start, observed with real daemons. If the controller does not answer,
// that proves nothing about the job.
import type { KnownFailure } from "./known-failure.ts";

export const SLURM_FAILURES: readonly KnownFailure[] = [
  {
    pattern: /fetch_config|Could not establish a configuration source|unable to (?:open|read) slurm\.conf/i,
    why: "the Slurm client on this machine has no configuration",
    fix: () =>
      "Run nacre on a machine where sinfo works, such as a login node, or set SLURM_CONF to the slurm.conf of the cluster.",
    isFinal: false,
  },
  {
    pattern: /Unable to contact slurm controller|Socket timed out on send\/recv|Zero Bytes were transmitted/i,
    why: "the Slurm controller cannot be reached",
    fix: () => "Check that sinfo works, and that SLURM_CONF names the right cluster.",
    isFinal: false,
  },
  {
    pattern: /Invalid job id|Slurm job \S+ has expired|Job\/step already completing/i,
    why: "there is no such running job",
    fix: () => "List your jobs with squeue --me. The body of the job must be nacre serve.",
    isFinal: true,
  },
];
