// kubernetes://[namespace/]pod[?container=NAME]: kubectl exec with the user's configuration.
import type { Link, UrlParts } from "./link.ts";
import { badUrl, checkedPart, readCwd } from "./url-parts.ts";

const NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

export function kubernetesLink(parts: UrlParts): Link {
  const { url, rest, query } = parts;
  const names = rest.split("/");
  if (names.length > 2) throw badUrl(url, "it has more parts than namespace/pod");
  const [pod = "", namespace] = [...names].reverse();
  const container = query.get("container");
  const options = [
    ...(namespace === undefined ? [] : ["-n", checkedPart(url, "the namespace", namespace, NAME)]),
    ...(container === undefined ? [] : ["-c", checkedPart(url, "the container", container, NAME)]),
  ];
  const name = checkedPart(url, "the pod", pod, NAME);
  return {
    kind: "kubernetes",
    url,
    program: "kubectl",
    cwd: readCwd(parts, "container"),
    argv: (remote) => ["kubectl", "exec", "-i", ...options, name, "--", ...remote],
  };
}
