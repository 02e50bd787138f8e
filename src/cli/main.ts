#!/usr/bin/env node
// The `nacre` program: loads the bundle of start.ts, which is next to this file, and starts it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultStateRoot, ROOT_NAMES } from "../engine/state-dir.ts";
import { CODE_CACHE_SAVE_AFTER_MS } from "../support/limits.ts";
import { CodeCache, type CodeCacheOptions } from "./code-cache.ts";
import { EXIT } from "./exit-code.ts";

interface Bundle {
  start(): Promise<void>;
}

const cache = new CodeCache(cacheOptions(process.argv[2]));
const { start } = cache.require(fileURLToPath(new URL("start.js", import.meta.url))) as Bundle;
// Save the cache when the command is done. Also save it after a while, because a server may be killed before it is
// done.
process.once("exit", (code) => {
  // After a usage error, V8 has not compiled the functions that the command uses.
  if (code !== EXIT.usage) cache.save();
});
setTimeout(() => cache.save(), CODE_CACHE_SAVE_AFTER_MS).unref();
void start();

/** Commands other than run and mcp use the cache only if the state root already exists. */
function cacheOptions(command: string | undefined): CodeCacheOptions {
  const name = command !== undefined && /^[a-z]{2,12}$/.test(command) ? command : "other";
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
