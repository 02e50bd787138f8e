// The disk as this process sees it: the operations without a worker.
import type { Disk } from "./disk.ts";
import { load } from "./load.ts";
import { locatePath } from "./locate.ts";
import { store } from "./store.ts";

export const LOCAL_DISK: Disk = {
  locate: async (path) => locatePath(path),
  load,
  store,
};
