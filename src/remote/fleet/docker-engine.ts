// Runs sandboxes as docker containers. The container's main process sleeps until the deadline and exits; then the
// docker daemon removes the container. So no container remains after the client is killed.
import { checkOptions } from "../../support/option-checks.ts";
import { askEngine, type FleetEngine, type ListedSandbox } from "./fleet-engine.ts";

export interface DockerFleetOptions {
  readonly image: string;
  /** Additional arguments for `docker run`, for example `["--network", "none", "--memory", "1g"]`. */
  readonly args?: readonly string[];
}

const LABEL = "nacre.fleet";
const OWNER = "nacre.owner";
const ENDED_STATES = ["exited", "dead"];

export function docker(options: DockerFleetOptions): FleetEngine {
  checkOptions("docker", options);
  const { image, args = [] } = options;
  return {
    name: "docker",
    lease: async ({ name, owner, deadlineSeconds }) => {
      const labels = ["--label", `${LABEL}=1`, "--label", `${OWNER}=${owner}`];
      const run = ["docker", "run", "--detach", "--init", "--rm", "--name", name, ...labels, ...args];
      await askEngine("Starting a container", [...run, "--", image, "sleep", String(deadlineSeconds)]);
      return { id: name, url: `docker://${name}` };
    },
    list: async () => {
      const format = `{{.Names}}\t{{.Label "${OWNER}"}}\t{{.Status}}\t{{.State}}`;
      const argv = ["docker", "ps", "--all", "--filter", `label=${LABEL}`, "--format", format];
      const lines = (await askEngine("Listing containers", argv)).split("\n").filter((line) => line !== "");
      // Skip containers that docker is already removing: a second removal would fail.
      const kept = lines.filter((line) => !line.endsWith("\tremoving"));
      return kept.map((line): ListedSandbox => {
        const [id = "", owner = "", status = "", state = ""] = line.split("\t");
        const hasEnded = ENDED_STATES.includes(state);
        return { id, owner, status, hasEnded, engine: "docker", url: `docker://${id}` };
      });
    },
    release: async (id) =>
      void (await askEngine("Removing a container", ["docker", "rm", "--force", "--volumes", id])),
  };
}
