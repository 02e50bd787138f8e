// Who may import whom. This table is the only place that says so: a folder may import
// from its own folder and from the storeys below it, types included; nothing else.
const STOREYS = [
  ["support"],
  ["policy", "text", "environment", "spool", "audit"],
  ["tool", "keeper"],
  ["sandbox", "hosts"],
  ["shell"],
  ["execution"],
  ["toolkit"],
  ["adapters", "mcp"],
  ["cli"],
];

// Packages a folder may use, besides Node's own modules.
const PACKAGES = {
  tool: ["zod"],
  execution: ["zod", "@humanwhocodes/momoa"],
  policy: ["unbash", "zod"],
  text: ["re2js"],
  mcp: ["@modelcontextprotocol/server", "zod"],
  cli: ["commander", "picocolors", "@clack/prompts"],
  adapters: ["ai", "@openai/agents", "@anthropic-ai/sdk", "@langchain/core", "zod"],
};

// A folder, or the single file of that name directly under src.
const inside = (name) => `^src/${name}(/|\\.ts$)`;
const below = STOREYS.map((_, i) => STOREYS.slice(0, i).flat());

const allowed = STOREYS.flatMap((storey, i) =>
  storey.flatMap((name) => [
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
      name: "only-keeper-starts-processes",
      severity: "error",
      from: { path: "^src/", pathNot: inside("keeper") },
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
