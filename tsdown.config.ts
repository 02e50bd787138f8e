import { defineConfig } from "tsdown";

// One output file per source file: the shell programs in src/keeper, which scripts/setup.mjs copies, are found
// beside the code that uses them.
export default defineConfig({
  entry: ["src/index.ts", "src/tool.ts", "src/policy.ts", "src/cli/main.ts"],
  unbundle: true,
  format: "esm",
  target: "node20.19",
  dts: true,
  fixedExtension: false,
  sourcemap: false,
  report: false,
});
