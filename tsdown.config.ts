import { fileURLToPath } from "node:url";
import { defineConfig } from "tsdown";

const common = {
  target: "node20.19",
  fixedExtension: false,
  sourcemap: false,
  report: false,
} as const;

/** Records whose code an output contains, for THIRD_PARTY_LICENSES.md (scripts/third-party.mjs). */
function recordPackages(name: string) {
  return {
    name: "record-packages",
    generateBundle(this: RecordingContext, _options: unknown, bundle: Readonly<Record<string, object>>) {
      const modules = Object.values(bundle).flatMap((file) =>
        "moduleIds" in file ? (file.moduleIds as string[]) : [],
      );
      // Up to the last one: a package can contain another version of a package.
      const folders = modules.flatMap(
        (id) => /\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [],
      );
      const source = `${JSON.stringify([...new Set(folders)].sort())}\n`;
      this.emitFile({ type: "asset", fileName: `bundled/${name}.json`, source });
    },
  };
}

interface RecordingContext {
  emitFile(file: { readonly type: "asset"; readonly fileName: string; readonly source: string }): string;
}

export default defineConfig([
  // The library: one output file per source file. The shell programs in src/engine, which scripts/setup.mjs
  // copies, are found beside the code that uses them.
  {
    ...common,
    entry: ["src/index.ts", "src/tool.ts", "src/policy.ts", "src/adapters/*.ts"],
    format: "esm",
    unbundle: true,
    plugins: [recordPackages("library")],
    dts: true,
  },
  // The program of the file worker, which runs inside a sandbox: one file, because the host hands it over as text.
  {
    ...common,
    format: "cjs",
    entry: { "files/worker": "src/files/worker/worker-main.ts" },
    plugins: [recordPackages("file-worker")],
    dts: false,
    minify: true,
    clean: false,
    outExtensions: () => ({ js: ".cjs" }),
  },
  // The worker thread of a search (src/shell/output-search.ts), in one file for the library and the program.
  {
    ...common,
    entry: { "search-worker": "src/shell/output-search-worker.ts" },
    plugins: [recordPackages("search-worker")],
    format: "esm",
    dts: false,
    minify: true,
    clean: false,
    deps: { alwaysBundle: [/^(?!node:)/] },
  },
  // The library in one file, for host processes of the tests, which start hundreds of them. Not part of the package.
  {
    ...common,
    entry: { "test-hosts/library": "src/index.ts" },
    format: "esm",
    dts: false,
    clean: false,
    deps: { alwaysBundle: [/^(?!node:)/] },
    outputOptions: { chunkFileNames: "test-hosts/[name]-[hash].js" },
    alias: {
      "jsonc-parser": fileURLToPath(new URL("node_modules/jsonc-parser/lib/esm/main.js", import.meta.url)),
    },
  },
  // The program, with everything it uses from packages: a client waits for it at every start, and finding
  // hundreds of modules takes longer than running them. CommonJS, because only that can be loaded with V8's code
  // cache (src/cli/code-cache.ts).
  {
    ...common,
    format: "cjs",
    entry: { "cli/main": "src/cli/main.ts", "cli/start": "src/cli/start.ts" },
    plugins: [recordPackages("program")],
    dts: false,
    minify: true,
    clean: false,
    deps: { alwaysBundle: [/^(?!node:)/] },
    // The SDK's own shims bring a schema validator along, which this server never asks.
    alias: {
      // Its CommonJS form loads its parts at run time, which a bundle does not have.
      "jsonc-parser": fileURLToPath(new URL("node_modules/jsonc-parser/lib/esm/main.js", import.meta.url)),
      "@modelcontextprotocol/server/_shims": fileURLToPath(new URL("src/mcp/sdk-shims.ts", import.meta.url)),
    },
    outExtensions: () => ({ js: ".js" }),
    outputOptions: { chunkFileNames: "cli/[name]-[hash].js" },
  },
]);
