// slurm://JOBID: a step inside a running job whose body is `nacre serve`. The step is only the link. The daemon and its
// shells belong to the job, because Slurm kills all processes of a step when the step ends.
import type { Link, UrlParts } from "./link.ts";
import { checkedPart, readCwd } from "./url-parts.ts";

/** The body of a fleet job is a daemon with its own state root. Attach to that daemon; do not start another. */
const IN_JOB = `d=/tmp/nacre-job-$SLURM_JOB_ID
if [ -d "$d" ] && [ -O "$d" ]; then NACRE_HOME=$d NACRE_SERVE=attach; export NACRE_HOME NACRE_SERVE; fi
exec "$@"`;

const JOB = /^[0-9]+(?:[_+][0-9]+)?$/;

export function slurmLink(parts: UrlParts): Link {
  const job = checkedPart(parts.url, "the job id", parts.rest, JOB);
  // Use --unbuffered: otherwise srun delays output that has no newline.
  const options = ["--overlap", "--unbuffered", "--ntasks=1", "--nodes=1", "--quiet", `--jobid=${job}`];
  return {
    kind: "slurm",
    url: parts.url,
    program: "srun",
    cwd: readCwd(parts),
    argv: (remote) => ["srun", ...options, "--", "sh", "-c", IN_JOB, "nacre", ...remote],
  };
}
