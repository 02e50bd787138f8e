// Runs a program with bubblewrap: separate namespaces, no capabilities, and a system call filter. If nacre runs as
// root, --unshare-user and --cap-drop are essential, because without them a command could remount every read-only bind.
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Confinement } from "../engine/confinement.ts";
import { runOnce } from "../engine/run-once.ts";
import { SHELL_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { bytesOfText, shownPath } from "../support/path-text.ts";
import { removeTree } from "../support/remove-tree.ts";
import { isFull } from "../support/system-error.ts";
import { explainFailure, explainMissing, type SandboxRefusal } from "./explain.ts";
import { findBwrap } from "./find-program.ts";
import type { GuardedLink } from "./guarded-links.ts";
import { makeLayers, overlayStage, ownUserArgs } from "./overlay.ts";
import type { Placeholder } from "./placeholders.ts";
import { realPath } from "./real-path.ts";
import type { SandboxSpec } from "./sandbox-options.ts";
import { seccompProgram } from "./seccomp.ts";
import { guardTrusted } from "./trusted-base.ts";
import { isVisible, type ViewPlan, viewOf } from "./view.ts";

/** File descriptors for bwrap, different from the standard descriptors and from those that bash uses itself. */
const FD = { args: 6, seccomp: 7, status: 8 } as const;

/**
 * The descriptor that holds the command's stderr while bwrap sets up a sandbox, if nacre may have to retry the setup.
 */
export const COMMAND_STDERR_FD = 5;

/**
 * Runs the program in the sandbox with the stderr of the command, because the stderr of bwrap is a file
 * (start-script.ts).
 */
const WITH_OWN_STDERR = ["/bin/sh", "-c", `exec "$@" 2>&${COMMAND_STDERR_FD} ${COMMAND_STDERR_FD}>&-`, "sh"];

export interface WrapPlan extends ViewPlan {
  /** The program and its arguments inside the sandbox. */
  readonly argv: readonly string[];
  /** Absolute. */
  readonly workingDir: string;
  /** If set, the workspace is under an overlay whose layers are in this directory. */
  readonly overlayDir?: string;
  /** Whether the program becomes PID 1 of its namespace. PID 1 ignores signals without a handler, and reaps orphans. */
  readonly isInit?: boolean;
}

/** A file that is open in the program. */
interface Descriptor {
  readonly fd: number;
  readonly mode: "read" | "write";
  /** An absolute path, or the name of a file in the shell's own directory. */
  readonly file: string;
  /** The content to write before the start. */
  readonly content?: Buffer;
}

export interface WrappedStart {
  /** Whether another host can make this start fail at any moment. If so, the start script retries a failed start. */
  readonly canVanish: boolean;
  /** The program that runs bwrap, with its arguments; empty without an overlay. */
  readonly stage: readonly string[];
  readonly argv: readonly string[];
  readonly descriptors: readonly Descriptor[];
  readonly placeholders: readonly Placeholder[];
  /** Links that a command can replace. nacre checks them after the command. */
  readonly links: readonly GuardedLink[];
  readonly confinement: Confinement;
}

type ProbeResult = { readonly ok: true } | SandboxRefusal;

export class Bubblewrap {
  readonly #dir: string;
  readonly #filters = new Map<boolean, string | undefined>();

  /** `dir` belongs to nacre and is hidden in every sandbox. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Tests the sandbox with the bwrap arguments of a real command. */
  async probe(
    spec: SandboxSpec,
    isPlaceholder: WrapPlan["isPlaceholder"] = () => false,
    isOverlay = false,
  ): Promise<ProbeResult> {
    if (findBwrap(spec.writable) === undefined) return explainMissing();
    const guarded = guardTrusted(spec.trusted, spec.writable);
    if (!guarded.ok) return guarded;
    try {
      return await this.#runProbe(spec, isPlaceholder, isOverlay);
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      throw new NacreError(
        "spawn_failed",
        `The sandbox cannot be prepared: no space is left for ${this.#dir}. Free some space, or set NACRE_HOME to a directory on another disk.`,
        { cause },
      );
    }
  }

  async #runProbe(
    spec: SandboxSpec,
    isPlaceholder: WrapPlan["isPlaceholder"],
    isOverlay: boolean,
  ): Promise<ProbeResult> {
    makeDirs(this.#dir);
    const dir = mkdtempSync(join(this.#dir, "probe-"));
    try {
      if (isOverlay) makeLayers({ dir, workspace: spec.workspace });
      const visibleState = { stateRoot: spec.stateRoots[0] ?? this.#dir, readable: [], writable: [] };
      const plan = {
        argv: ["/bin/sh", "-c", ":"],
        workingDir: spec.workspace,
        visibleState,
        repositories: [],
        isPlaceholder,
        ...(isOverlay ? { overlayDir: dir } : {}),
      };
      // The probe ignores placeholders and policy folders of other shells, because they can vanish at any moment. It
      // also creates no placeholders, because a probe must not create files outside its own directory.
      const { stage, argv, descriptors } = this.wrap({ ...spec, policyFolders: [] }, plan, false);
      const files = descriptors.map(({ fd, mode, file, content }) => {
        const path = content === undefined && mode === "read" ? file : join(dir, file);
        if (content) writeFileSync(path, content);
        return { fd, mode, path };
      });
      const { code, stderr } = await runOnce([...stage, ...argv], files);
      return code === 0 ? { ok: true } : explainFailure(code, stderr);
    } finally {
      removeTree(dir);
    }
  }

  /** With `withPlaceholders` false, bwrap mounts nothing on paths that do not exist. */
  wrap(spec: SandboxSpec, plan: WrapPlan, withPlaceholders = true): WrappedStart {
    const bwrap = findBwrap(spec.writable);
    if (bwrap === undefined) throw new NacreError("spawn_failed", explainMissing().why);
    if (!isVisible(plan.workingDir, spec)) {
      throw new NacreError(
        "invalid_input",
        `The working directory ${shownPath(plan.workingDir)} is hidden in the sandbox. Work in ${shownPath(spec.workspace)}, or add the directory to writable.`,
      );
    }
    const view = viewOf(spec, { ...plan, emptyDir: this.#emptyDir(spec) });
    const filter = this.#filterFile(spec.debuggers);
    const missing = new Set(withPlaceholders ? [] : view.placeholders.map(({ path }) => path));
    const mounts = view.mounts.filter(({ path }) => !missing.has(path));
    const { overlayDir } = plan;
    const args = [
      ...NAMESPACES,
      ...(overlayDir === undefined ? [] : ownUserArgs(spec.isGuarded)),
      ...(spec.network === "none" ? ["--unshare-net"] : []),
      ...(plan.isInit ? ["--as-pid-1"] : []),
      ...mounts.flatMap(({ args }) => args),
      ...["--chdir", plan.workingDir],
      ...temporaryDirArgs(),
      ...(filter === undefined ? [] : ["--seccomp", String(FD.seccomp)]),
      ...["--json-status-fd", String(FD.status)],
    ];
    const descriptors: Descriptor[] = [
      {
        fd: FD.args,
        mode: "read",
        file: SHELL_NAMES.sandboxArgs,
        content: bytesOfText(`${args.join("\0")}\0`),
      },
      ...(filter === undefined ? [] : [{ fd: FD.seccomp, mode: "read", file: filter } as const]),
      { fd: FD.status, mode: "write", file: SHELL_NAMES.sandboxStatus },
    ];
    const noFilter = `the system call filter: nacre has none for ${process.arch}, so commands can connect to unix sockets and create setuid files`;
    return {
      stage: overlayDir === undefined ? [] : overlayStage({ dir: overlayDir, workspace: spec.workspace }),
      canVanish: view.canVanish,
      argv: [
        ...[bwrap, "--args", String(FD.args), "--"],
        ...(view.canVanish ? WITH_OWN_STDERR : []),
        ...plan.argv,
      ],
      descriptors,
      placeholders: view.placeholders,
      links: view.links,
      confinement: {
        driver: "bubblewrap",
        profile: spec.profile,
        network: spec.network,
        notEnforced: [...view.notEnforced, ...(filter === undefined ? [noFilter] : [])],
      },
    };
  }

  #filterFile(debuggers: boolean): string | undefined {
    if (!this.#filters.has(debuggers)) this.#filters.set(debuggers, this.#writeFilter(debuggers));
    return this.#filters.get(debuggers);
  }

  /** An empty directory without permissions, which masks the state roots of other hosts. */
  #emptyDir({ transientRoots }: SandboxSpec): string {
    const path = join(realPath(this.#dir), "empty");
    if (transientRoots.length > 0) {
      makeDirs(path);
      chmodSync(path, 0o000);
    }
    return path;
  }

  #writeFilter(debuggers: boolean): string | undefined {
    const program = seccompProgram({ debuggers });
    if (!program) return undefined;
    const name = `seccomp-${createHash("sha256").update(program).digest("hex").slice(0, 16)}`;
    const path = join(this.#dir, name);
    if (attempt(() => readFileSync(path))?.equals(program)) return path;
    makeDirs(this.#dir);
    const temporary = `${path}.${process.pid}`;
    try {
      writeFileSync(temporary, program, { mode: 0o600 });
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return path;
  }
}

const NAMESPACES = [
  ...["--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
  ...["--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL"],
];

/**
 * Sets the variables for temporary directories to the sandbox's own /tmp, because other directories can be read-only or
 * hidden.
 */
function temporaryDirArgs(): string[] {
  return ["TMPDIR", "TMP", "TEMP"]
    .filter((name) => process.env[name] !== undefined)
    .flatMap((name) => ["--setenv", name, "/tmp"]);
}
