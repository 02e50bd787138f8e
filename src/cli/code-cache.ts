// Loads the files of the bundled program with V8's code cache: nothing is parsed or compiled again that an earlier run has
// compiled. That is half of the time a client waits for `nacre mcp` to answer, at every start. The first run of each
// command makes its cache, in the state root; what is published holds none, because it could not be reviewed.
// V8 ties a cache to its source by length alone: here each is bound to the hash of its source (code-cache-file.ts).
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

export interface CodeCachePlace {
  /** The directory of the caches; undefined where there is none. */
  readonly dir: string | undefined;
  /** Runs of the same name use the same code. */
  readonly name: string;
}

export class CodeCache {
  readonly #place: CodeCachePlace;
  readonly #known: ReadonlyMap<string, CodeCacheEntry>;
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #compiled = new Map<string, Compiled>();
  #isComplete = true;

  constructor(place: CodeCachePlace) {
    this.#place = { ...place, name: `${place.name}-${runtimeKey()}` };
    this.#known = place.dir === undefined ? new Map() : readCodeCache(place.dir, this.#place.name);
  }

  /** Whether everything that was loaded so far came from the cache. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** What a CommonJS file exports; the files beside it that it requires come the same way. */
  require(file: string): unknown {
    const known = this.#modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    this.#modules.set(file, module);
    const outside = createRequire(file);
    const factory = this.#compile(file).runInThisContext() as Factory;
    const require = (id: string) =>
      id.startsWith("./") ? this.require(join(dirname(file), id)) : outside(id);
    factory(module.exports, require, module, file, dirname(file));
    return module.exports;
  }

  /** Called when the work is done, so that the cache holds what the work has used. Never fails. */
  save(): void {
    const { dir, name } = this.#place;
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

/** Another Node, processor or set of V8's options has a cache of its own, instead of refusing the one that is there. */
function runtimeKey(): string {
  return `${process.version}-${process.arch}-${cachedDataVersionTag().toString(16)}`;
}
