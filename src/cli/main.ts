#!/usr/bin/env node
// The `nacre` program: loads what start.ts is bundled into, which lies beside this file, and starts it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultStateRoot, ROOT_NAMES } from "../engine/state-dir.ts";
import { CODE_CACHE_SAVE_AFTER_MS } from "../support/limits.ts";
import { CodeCache } from "./code-cache.ts";
import { EXIT } from "./exit-code.ts";

interface Bundle {
  start(): Promise<void>;
}

const cache = new CodeCache(placeOf(process.argv[2]));
const { start } = cache.require(fileURLToPath(new URL("start.js", import.meta.url))) as Bundle;
// When the work is done. A server may be killed, and has long answered its client by then.
process.once("exit", (code) => {
  // A word that is no command has no code worth keeping.
  if (code !== EXIT.usage) cache.save();
});
setTimeout(() => cache.save(), CODE_CACHE_SAVE_AFTER_MS).unref();
void start();

/** Commands that need the state root make it; others leave no trace of their own. */
function placeOf(word: string | undefined): { readonly dir: string | undefined; readonly name: string } {
  const name = word !== undefined && /^[a-z]{2,12}$/.test(word) ? word : "other";
  try {
    const root = defaultStateRoot();
    return {
      dir:
        existsSync(root) || name === "run" || name === "mcp" ? join(root, ROOT_NAMES.codeCache) : undefined,
      name,
    };
  } catch {
    return { dir: undefined, name };
  }
}
