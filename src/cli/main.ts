#!/usr/bin/env node
// The `nacre` program: loads what start.ts is bundled into, which lies beside this file, and starts it.
import module from "node:module";
import { fileURLToPath } from "node:url";
import { CodeCache } from "./code-cache.ts";

interface Bundle {
  start(): Promise<void>;
}

const program = fileURLToPath(new URL("start.js", import.meta.url));
const cache = new CodeCache();
if (process.env["NACRE_CODE_CACHE"] === "write") {
  void bundle(cache.require(program))
    .start()
    .then(() => cache.save());
} else if (cache.fits(program)) {
  void bundle(cache.require(program)).start();
} else {
  // Another Node than the one that built it; newer ones keep a cache of their own.
  const enable: unknown = Reflect.get(module, "enableCompileCache");
  if (typeof enable === "function") enable.call(module);
  void bundle(module.createRequire(program)(program)).start();
}

function bundle(exports: unknown): Bundle {
  return exports as Bundle;
}
