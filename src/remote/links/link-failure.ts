// Explains why a link failed before its greeting, from both output streams of the client program. The exit code proves
// nothing: ssh returns 255 for every failure, and kubectl can return 0 after a lost connection.
import type { LinkEnd } from "../../engine/link-process.ts";
import { NacreError } from "../../support/errors.ts";
import { PRINTED_EXCERPT_MAX_CHARS } from "../../support/limits.ts";
import { lastPrintedLines } from "./client-output.ts";
import type { KnownFailure } from "./known-failure.ts";
import { KUBERNETES_FAILURES } from "./kubernetes-failures.ts";
import type { Link, LinkKind } from "./link.ts";
import { SLURM_FAILURES } from "./slurm-failures.ts";

export interface LinkNoise {
  readonly stdout: string;
  readonly stderr: string;
}

const PACKAGES: Readonly<Record<string, string>> = {
  ssh: "openssh-client",
  docker: "docker.io",
  podman: "podman",
  kubectl: "kubernetes-client",
  srun: "slurm-client",
};

/** The known failures of each kind of link. A command link can run any of these programs. */
const OF_KIND: Readonly<Record<LinkKind, readonly KnownFailure[]>> = {
  ...{ ssh: [], docker: [], podman: [], kubernetes: KUBERNETES_FAILURES, slurm: SLURM_FAILURES },
  command: [...KUBERNETES_FAILURES, ...SLURM_FAILURES],
};

/** The advice for an unknown failure. */
const HINTS: Partial<Readonly<Record<LinkKind, string>>> = {
  slurm:
    "Check that sinfo works here, that squeue --me lists the job as RUNNING, and that the body of the job is nacre serve.",
};

const KNOWN: readonly KnownFailure[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/i,
    why: "the host key differs from the known one",
    fix: () =>
      "Find out why it changed; then remove the old key with ssh-keygen -R HOST and connect once with ssh.",
    isFinal: true,
  },
  {
    pattern: /Host key verification failed|No .*host key is known/i,
    why: "the host key is unknown",
    fix: () => "Connect once with ssh in a terminal, compare the fingerprint and accept it.",
    isFinal: true,
  },
  {
    pattern: /Permission denied \(|Too many authentication failures|no mutual signature algorithm/i,
    why: "ssh could not log in with your keys",
    fix: () =>
      "Check that ssh logs in without a password: ssh -o BatchMode=yes HOST true. Add your public key to ~/.ssh/authorized_keys there, or name the key in ~/.ssh/config.",
    isFinal: true,
  },
  {
    pattern: /Could not resolve hostname|Name or service not known|no such host/i,
    why: "the host name cannot be resolved",
    fix: () => "Check the name in the URL, and your ssh configuration.",
    isFinal: false,
  },
  {
    pattern: /No such container|no container with name or ID|no such object/i,
    why: "there is no such container",
    fix: ({ program }) => `List the containers with ${program} ps -a.`,
    isFinal: false,
  },
  {
    pattern:
      /container .* is not running|can only create exec sessions on running containers|container state improper/i,
    why: "the container is not running",
    fix: ({ program }) => `Start it with ${program} start NAME.`,
    isFinal: false,
  },
  {
    pattern:
      /Cannot connect to the Docker daemon|permission denied while trying to connect to the Docker daemon|Cannot connect to Podman/i,
    why: "the container engine cannot be reached",
    fix: ({ program }) => `Start it, or get access to its socket: ${program} info must work.`,
    isFinal: false,
  },
  {
    pattern:
      /(?:exec: )?"?(?:\/bin\/)?sh"?: (?:executable file not found|no such file or directory|stat .*no such file)|unable to start container process: exec: "sh"/i,
    why: "the remote end has no sh",
    fix: () => "Use an image with a shell: nacre needs sh, bash, tar and gzip there.",
    isFinal: true,
  },
  {
    pattern: /Connection refused|Connection timed out|No route to host|Network is unreachable/i,
    why: "the remote end cannot be reached",
    fix: () => "Check the address and the port, and that the server runs.",
    isFinal: false,
  },
];

/** The failure of one attempt. `isFinal`: another attempt cannot help. */
export class LinkFailure extends NacreError {
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super("unavailable", message);
    this.isFinal = isFinal;
  }
}

export function explainLinkFailure(link: Link, end: LinkEnd | "silent", noise: LinkNoise): LinkFailure {
  const where = `The remote end ${link.url} cannot be used`;
  if (end !== "silent" && end.startError === "ENOENT") {
    const [name = ""] = [PACKAGES[link.program]].filter((one) => one !== undefined);
    const install =
      name === "" ? "Check the program in the URL." : `Install it, for example with apt-get install ${name}.`;
    return new LinkFailure(`${where}: the program ${link.program} was not found on PATH. ${install}`, true);
  }
  if (end !== "silent" && end.startError !== undefined) {
    return new LinkFailure(
      `${where}: the program ${link.program} could not be started (${end.startError}).`,
      true,
    );
  }
  const text = `${noise.stderr}\n${noise.stdout}`;
  const quoted = lastLines(noise);
  const known = [...OF_KIND[link.kind], ...KNOWN].find(({ pattern }) => pattern.test(text));
  if (known) return new LinkFailure(`${where}: ${known.why}. ${known.fix(link)}${quoted}`, known.isFinal);
  const how =
    end === "silent"
      ? "it did not greet in time"
      : `${link.program} ended ${describeEnd(end)} before the greeting`;
  const { [link.kind]: hint = "Run the client program by hand to see why." } = HINTS;
  return new LinkFailure(`${where}: ${how}. ${hint}${quoted}`, false);
}

function describeEnd({ code, signal }: LinkEnd): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`;
}

/** The last lines that the client program printed, joined into one. */
function lastLines({ stderr, stdout }: LinkNoise): string {
  const last = lastPrintedLines(`${stdout}\n${stderr}`, { maxLines: 3, maxChars: PRINTED_EXCERPT_MAX_CHARS });
  return last === "" ? "" : ` It printed: ${last}`;
}
