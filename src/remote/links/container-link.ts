// docker://container and podman://container: exec in a running container.
import type { Link, UrlParts } from "./link.ts";
import { checkedPart, readCwd } from "./url-parts.ts";

const CONTAINER = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

export function containerLink(program: "docker" | "podman", parts: UrlParts): Link {
  const name = checkedPart(parts.url, "the container", parts.rest, CONTAINER);
  return {
    kind: program,
    url: parts.url,
    program,
    cwd: readCwd(parts),
    argv: (remote) => [program, "exec", "-i", "--", name, ...remote],
  };
}
