// Loads the files of the bundled program with V8's code cache, so that V8 does not compile them again. This halves the
// time until `nacre mcp` answers. The first run of each command writes its cache to the state root. The published
// package contains no cache, because compiled code cannot be reviewed. V8 checks only the length of the source, so each
// entry also has the hash of its source (code-cache-file.ts).
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { type CodeCacheEntry, readCodeCache, writeCodeCache } from "./code-cache-file.ts";

type Factory = (
  exports: object,
  require: (id: string) => unknown,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void;

interface Compiled {
  readonly script: Script;
  readonly hash: string;
}

export interface CodeCacheOptions {
  /** The directory of the caches; undefined to use none. */
  readonly dir: string | undefined;
  /** The command: runs with the same name share a cache. */
  readonly name: string;
}

export class CodeCache {
  readonly #options: CodeCacheOptions;
  readonly #known: ReadonlyMap<string, CodeCacheEntry>;
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #compiled = new Map<string, Compiled>();
  #isComplete = true;

  constructor({ dir, name }: CodeCacheOptions) {
    this.#options = { dir, name: `${name}-${runtimeKey()}` };
    this.#known = dir === undefined ? new Map() : readCodeCache(dir, this.#options.name);
  }

  /** Whether every file loaded so far came from the cache. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The exports of a CommonJS file. Relative files that it requires are loaded the same way. */
  require(file: string): unknown {
    const known = this.#modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    this.#modules.set(file, module);
    const nodeRequire = createRequire(file);
    const factory = this.#compile(file).runInThisContext() as Factory;
    const require = (id: string) =>
      id.startsWith("./") ? this.require(join(dirname(file), id)) : nodeRequire(id);
    factory(module.exports, require, module, file, dirname(file));
    return module.exports;
  }

  /** Call this when the command is done: by then V8 has compiled the functions that the command uses. Never throws. */
  save(): void {
    const { dir, name } = this.#options;
    if (this.#isComplete || dir === undefined) return;
    const entries = [...this.#compiled].map(([file, { script, hash }]) => ({
      file: basename(file),
      hash,
      code: script.createCachedData(),
    }));
    writeCodeCache(dir, name, entries);
  }

  #compile(file: string): Script {
    const source = readFileSync(file);
    const hash = createHash("sha256").update(source).digest("hex");
    const entry = this.#known.get(basename(file));
    const cachedData = entry?.hash === hash ? entry.code : undefined;
    const text = `(function (exports, require, module, __filename, __dirname) {${source.toString("utf8")}\n})`;
    const script = new Script(text, { filename: file, ...(cachedData ? { cachedData } : {}) });
    if (script.cachedDataRejected !== false) this.#isComplete = false;
    this.#compiled.set(file, { script, hash });
    return script;
  }
}

/** Each Node version, CPU and set of V8 options needs its own cache: V8 rejects a cache from another combination. */
function runtimeKey(): string {
  return `${process.version}-${process.arch}-${cachedDataVersionTag().toString(16)}`;
}
