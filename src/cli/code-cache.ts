// Loads the files of the bundled program with V8's code cache: nothing is parsed or compiled again that an earlier
// run has compiled. That is half of the time a client waits for `nacre mcp` to answer, at every start. The build
// makes the cache by running the program once; V8 takes it only if it is of its own version.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

type Factory = (
  exports: object,
  require: (id: string) => unknown,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void;

export class CodeCache {
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #scripts = new Map<string, Script>();

  /** Whether the cache of this file fits this Node. */
  fits(file: string): boolean {
    return this.#compile(file).cachedDataRejected === false;
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

  /** Called at the end of a run, so that it holds what the run has used. */
  save(): void {
    for (const [file, script] of this.#scripts) writeFileSync(cacheOf(file), script.createCachedData());
  }

  #compile(file: string): Script {
    const known = this.#scripts.get(file);
    if (known) return known;
    const text = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, "utf8")}\n})`;
    const cachedData = read(cacheOf(file));
    const script = new Script(text, { filename: file, ...(cachedData ? { cachedData } : {}) });
    this.#scripts.set(file, script);
    return script;
  }
}

function cacheOf(file: string): string {
  return `${file}.cache`;
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
