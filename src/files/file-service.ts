// The state that the file tools of one manager share: their disks, the versions that readers know, and the records of
// unfinished writes.

import { scopeOf } from "../execution/scope.ts";
import type { ShellManager } from "../shell-manager.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { Disk } from "./disk/disk.ts";
import { LOCAL_DISK } from "./disk/local-disk.ts";
import { tidyFileLocks } from "./file-lock.ts";
import { KnownFiles } from "./known-files.ts";
import { UnfinishedWrites } from "./unfinished-writes.ts";
import { WorkerDisk } from "./worker/worker-disk.ts";

export class FileService {
  static readonly #services = new WeakMap<ShellManager, FileService>();
  readonly known = new KnownFiles();
  readonly unfinished: UnfinishedWrites;
  readonly manager: ShellManager;
  /** The disks of sandboxes, by scope and workspace. */
  readonly #disks = new Map<string, Disk>();
  #isTidy = false;

  private constructor(manager: ShellManager) {
    this.manager = manager;
    this.unfinished = new UnfinishedWrites(manager.root);
  }

  /** Returns the manager's only service: Edit must know which files Read has read. */
  static of(manager: ShellManager): FileService {
    const known = FileService.#services.get(manager) ?? new FileService(manager);
    FileService.#services.set(manager, known);
    return known;
  }

  /** Removes the temporary files and locks of killed hosts. Only the first call does anything. */
  tidy(): void {
    if (this.#isTidy) return;
    this.#isTidy = true;
    this.unfinished.tidy();
    tidyFileLocks(this.manager.root);
  }

  /** The disk as commands of this call see it: inside the sandbox, if commands run in one. */
  async disk(context: ExecutionContext): Promise<Disk> {
    this.tidy();
    const { workingDir } = context;
    if (!(await this.manager.confiner.isEnforced(workingDir))) return LOCAL_DISK;
    const scope = scopeOf(context);
    const key = `${scope}\0${workingDir}`;
    const known = this.#disks.get(key) ?? new WorkerDisk(this.manager, workingDir, scope);
    this.#disks.set(key, known);
    return known;
  }
}
