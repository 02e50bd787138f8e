// Lets the methods of shells and sessions check the options of their callers. The checks are zod schemas in toolkit/, which
// the library installs when it is loaded. The nacre program does not load the checks: the compiler has already checked
// its calls, and loading zod would delay every start.

/** The public methods with checked options. */
export type CheckedMethod =
  | "createToolkit"
  | "createFleet"
  | "fleet.lease"
  | "docker"
  | "kubernetes"
  | "slurm"
  | "kit.call"
  | "kit.check"
  | "kit.preview"
  | "kit.run"
  | "kit.session"
  | "session.run"
  | "session.start"
  | "shell.interrupt"
  | "shell.kill"
  | "shell.output"
  | "shell.outputBytes"
  | "shell.search"
  | "shell.terminate"
  | "shell.waitFor"
  | "shell.write"
  | "shells.killAll"
  | "manager.createShell"
  | "manager.session"
  | "new ShellManager";

export type OptionCheck = (method: CheckedMethod, options: unknown) => void;

let installed: OptionCheck = () => {};

/**
 * Throws a NacreError that names the wrong option and the allowed values. For an unknown option, it suggests the
 * nearest name.
 */
export function checkOptions(method: CheckedMethod, options: unknown): void {
  if (options !== undefined) installed(method, options);
}

export function installOptionChecks(check: OptionCheck): void {
  installed = check;
}
