import { defineConfig } from "tsdown";

// One output file per source file: the shell programs in src/keeper are found beside the code that uses them.
export default defineConfig({
  entry: ["src/index.ts", "src/tool.ts", "src/cli/main.ts"],
  unbundle: true,
  copy: [{ from: "src/keeper/*.sh", to: "dist/keeper" }],
  format: "esm",
  target: "node20.19",
  dts: true,
  fixedExtension: false,
  sourcemap: false,
  report: false,
});
