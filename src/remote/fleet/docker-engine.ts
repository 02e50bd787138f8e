// Sandboxes as containers of a docker daemon. The container's own body is its deadline: it sleeps until then and ends,
// and the daemon removes it. So nothing stays when the client is killed.
import { askEngine, type FleetEngine, type ListedSandbox } from "./fleet-engine.ts";

export interface DockerFleetOptions {
  readonly image: string;
  /** Further arguments of `docker run`, for example `["--network", "none", "--memory", "1g"]`. */
  readonly args?: readonly string[];
}

const LABEL = "nacre.fleet";
const OWNER = "nacre.owner";

export function docker({ image, args = [] }: DockerFleetOptions): FleetEngine {
  return {
    name: "docker",
    lease: async ({ name, owner, deadlineSeconds }) => {
      const labels = ["--label", `${LABEL}=1`, "--label", `${OWNER}=${owner}`];
      const run = ["docker", "run", "--detach", "--init", "--rm", "--name", name, ...labels, ...args];
      await askEngine("Starting a container", [...run, "--", image, "sleep", String(deadlineSeconds)]);
      return { id: name, url: `docker://${name}` };
    },
    list: async () => {
      const format = `{{.Names}}\t{{.Label "${OWNER}"}}\t{{.Status}}`;
      const argv = ["docker", "ps", "--all", "--filter", `label=${LABEL}`, "--format", format];
      const lines = (await askEngine("Listing containers", argv)).split("\n").filter((line) => line !== "");
      return lines.map((line): ListedSandbox => {
        const [id = "", owner = "", status = ""] = line.split("\t");
        return { id, owner, status, engine: "docker", url: `docker://${id}` };
      });
    },
    release: async (id) =>
      void (await askEngine("Removing a container", ["docker", "rm", "--force", "--volumes", id])),
  };
}
