// The import rules, stated here only: a folder may import from itself and from the layers below it, types included.
const LAYERS = [
  ["support"],
  ["policy", "text", "environment", "audit"],
  ["tool", "engine"],
  ["remote/channel", "remote/links"],
  ["remote/bootstrap"],
  ["remote/client"],
  ["sandbox", "approvals", "terminal"],
  ["preview"],
  ["shell"],
  ["session"],
  ["shell-manager"],
  ["execution"],
  ["files"],
  ["toolkit"],
  ["adapters", "mcp"],
  ["ui"],
  ["remote/server", "remote/fleet"],
  ["cli"],
];

// Packages a folder may use, besides Node's own modules.
const PACKAGES = {
  tool: ["zod"],
  execution: ["zod", "@humanwhocodes/momoa"],
  files: ["zod"],
  policy: ["unbash", "zod"],
  terminal: ["@xterm/headless"],
  text: ["re2js"],
  toolkit: ["zod"],
  mcp: ["@modelcontextprotocol/core", "@modelcontextprotocol/server", "zod"],
  cli: ["commander", "picocolors", "jsonc-parser", "string-width", "zod"],
  adapters: ["ai", "@openai/agents", "@anthropic-ai/sdk", "@langchain/core"],
};

// A folder, or the single file of that name directly under src.
const inside = (name) => `^src/${name}(/|\\.ts$)`;
const below = LAYERS.map((_, i) => LAYERS.slice(0, i).flat());

const allowed = LAYERS.flatMap((layer, i) =>
  layer.flatMap((name) => [
    { from: { path: inside(name) }, to: { path: [inside(name), ...below[i].map(inside)] } },
    ...(PACKAGES[name] ?? []).map((pkg) => ({
      from: { path: inside(name) },
      to: { path: `(^|/)node_modules/${pkg}(/|$)` },
    })),
  ]),
);

module.exports = {
  allowed: [
    ...allowed,
    // Public entry points re-export; nothing imports them back.
    { from: { path: "^src/(index|tool|policy)\\.ts$" }, to: { path: "^src/" } },
    { from: { path: "^src/" }, to: { dependencyTypes: ["core"] } },
    { from: { pathNot: "^src/" }, to: {} },
  ],
  allowedSeverity: "error",
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "only-engine-starts-processes",
      severity: "error",
      from: { path: "^src/", pathNot: inside("engine") },
      to: { path: "^(node:)?(child_process|cluster)$" },
    },
    {
      name: "policy-is-pure",
      severity: "error",
      from: { path: inside("policy") },
      to: { dependencyTypes: ["core"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
  },
};
