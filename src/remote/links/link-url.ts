// Parses a remote URL. Every part becomes an operand of a client program. So this module rejects parts that the program
// could read as an option, or that a shell or a configuration file could interpret.
import { commandLink } from "./command-link.ts";
import { containerLink } from "./container-link.ts";
import { kubernetesLink } from "./kubernetes-link.ts";
import type { Link } from "./link.ts";
import { slurmLink } from "./slurm-link.ts";
import { sshLink } from "./ssh-link.ts";
import { badUrl, decodedPart, hasControl, readQuery } from "./url-parts.ts";

export function parseRemote(url: string): Link {
  if (typeof url !== "string" || url === "") throw badUrl(String(url), "it is empty");
  if (url.startsWith("command:")) return commandLink(url);
  const match = /^([a-z]+):\/\/([^?#]*)(?:\?([^#]*))?$/.exec(url);
  if (!match) throw badUrl(url, "it has none of the known forms");
  const [, scheme = "", rest = "", query = ""] = match;
  const parts = { url, rest: decodedPart(url, rest), query: readQuery(url, query) };
  if (hasControl(parts.rest)) throw badUrl(url, "it contains a control character");
  switch (scheme) {
    case "ssh":
      return sshLink(parts);
    case "docker":
    case "podman":
      return containerLink(scheme, parts);
    case "kubernetes":
      return kubernetesLink(parts);
    case "slurm":
      return slurmLink(parts);
    default:
      throw badUrl(url, `there is no link ${scheme}`);
  }
}
