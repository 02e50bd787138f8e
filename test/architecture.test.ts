// The rules in AGENTS.md. Each check also runs on a planted violation, to show that it can fail.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let scratch: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "nacre-imports-"));
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs dependency-cruiser on the tree in `dir`. */
function violationsIn(dir: string): { status: number | null; output: string } {
  const program = join(root, "node_modules/.bin/depcruise");
  const { status, stdout } = spawnSync(program, ["src", "--output-type", "err"], {
    cwd: dir,
    encoding: "utf8",
  });
  return { status, output: stdout };
}

describe("the import rules refuse", () => {
  let refused: { status: number | null; output: string };

  // All violations are planted in one copy, because each run of dependency-cruiser takes seconds. Any other finding
  // is a violation in the tree itself.
  beforeAll(() => {
    const dir = join(scratch, "planted");
    mkdirSync(dir);
    for (const part of ["src", ".dependency-cruiser.cjs", "tsconfig.json", "package.json"]) {
      cpSync(join(root, part), join(dir, part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
    const plant = (file: string, text: string) => appendFileSync(join(dir, "src", file), text);
    plant("support/clock.ts", 'export { ToolRegistry } from "../tool/registry.ts";\n');
    plant("text/decode.ts", 'export type { Redactor } from "../environment/redact.ts";\n');
    plant("support/a.ts", 'export { b } from "./b.ts";\n');
    plant("support/b.ts", 'import "./a.ts";\nexport const b = 1;\n');
    plant("shell/kill.ts", 'import "node:child_process";\nimport "zod";\n');
    refused = violationsIn(dir);
  }, 120_000);

  test.each([
    ["an import from a higher layer", "not-in-allowed: src/support/clock.ts → src/tool/registry.ts"],
    [
      "a type import from a sibling on the same layer",
      "not-in-allowed: src/text/decode.ts → src/environment/redact.ts",
    ],
    ["a circular import", "no-circular: src/support/"],
    ["starting a process outside engine/", "only-engine-starts-processes: src/shell/kill.ts"],
    ["a package that the folder may not use", /not-in-allowed: src\/shell\/kill\.ts → .*node_modules\/zod/],
  ])("%s", (_, line) => {
    expect(refused.status).not.toBe(0);
    expect(refused.output).toMatch(line);
  });

  test("no import in the tree", () => {
    const planted =
      /src\/support\/(clock|a|b)\.ts|src\/text\/decode\.ts → src\/environment\/redact\.ts|src\/shell\/kill\.ts → (node:)?child_process|src\/shell\/kill\.ts → .*\/zod/;
    const found = refused.output.split("\n").filter((line) => /^\s*(error|warn|info) /.test(line));
    expect(found.length).toBeGreaterThanOrEqual(5);
    expect(found.filter((line) => !planted.test(line))).toEqual([]);
  });
});

// Every realm has its own built-in classes, so an object from a test runner's realm is no instance of nacre's classes.
const GLOBAL_CLASSES = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name));
const REALM_BOUND = new RegExp(`\\binstanceof\\s+(?:globalThis\\.)?(${GLOBAL_CLASSES.join("|")})\\b`, "g");

function realmBoundChecks(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(REALM_BOUND)].map(([text]) => `${file}: ${text}`);
}

test("no instanceof uses a built-in class, because every realm has its own built-in classes", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => name.endsWith(".ts")).map((name) => join(root, "src", name));
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.flatMap(realmBoundChecks)).toEqual([]);
  const planted = join(scratch, "planted.ts");
  writeFileSync(
    planted,
    "a instanceof Error; b instanceof  Uint8Array; c instanceof ErrorOfOurs; d instanceof z.ZodMap",
  );
  expect(realmBoundChecks(planted)).toHaveLength(2);
});

describe("only start-command.ts starts commands", () => {
  /** The methods that start a command, and the files that declare them. */
  const STARTS = new Map([
    ["createShell", ["src/shell-manager.ts", "src/session/session-options.ts"]],
    ["run", ["src/session/session.ts"]],
    ["start", ["src/session/session.ts", "src/engine/engine.ts"]],
  ]);

  /** Planted files: one bypasses admission, one forges an admission. */
  const PLANTED = new Map([
    [
      join(root, "src/mcp/bypass.ts"),
      `import type { Toolkit } from "../toolkit.ts";
export const bypass = ({ manager: m }: Toolkit) => m.session("x", { workingDir: "/" }).run("true");
export const handedOn = ({ manager: m }: Toolkit) => m.createShell;
`,
    ],
    [
      join(root, "src/mcp/made-up.ts"),
      `import { Admitted } from "../execution/admission.ts";
import { startAlone } from "../execution/start-command.ts";
export const made = new Admitted({});
export const copied = startAlone({ command: "true", cwd: "/", session: null, background: false, verdict: "allow", rule: null });
`,
    ],
  ]);
  let program: ts.Program;

  beforeAll(() => {
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const host = ts.createCompilerHost(options);
    const { readFile, fileExists } = host;
    host.readFile = (path) => PLANTED.get(path) ?? readFile(path);
    host.fileExists = (path) => PLANTED.has(path) || fileExists(path);
    const files = [...ts.sys.readDirectory(join(root, "src"), [".ts"]), ...PLANTED.keys()];
    program = ts.createProgram(files, options, host);
  }, 120_000);

  /** Files below admission: every command that they start was admitted. */
  const BELOW = ["src/shell/", "src/session/", "src/shell-manager.ts"];

  /** Every start that a file above admission calls or passes on, as `file: method`. */
  function starts(): string[] {
    const checker = program.getTypeChecker();
    const isStart = (name: ts.MemberName) => {
      const declaredIn = STARTS.get(name.text);
      const declaration = declaredIn && checker.getSymbolAtLocation(name)?.declarations?.[0];
      return declaration && declaredIn?.includes(relative(root, declaration.getSourceFile().fileName));
    };
    const found = new Set<string>();
    for (const source of program.getSourceFiles()) {
      const file = relative(root, source.fileName);
      if (!file.startsWith("src/") || BELOW.some((path) => file.startsWith(path))) continue;
      const visit = (node: ts.Node): void => {
        if (ts.isPropertyAccessExpression(node) && isStart(node.name))
          found.add(`${file}: ${node.name.text}`);
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
    return [...found].sort();
  }

  test("the only exception is syntax-check.ts, whose bash -n runs no command; a planted start is found", () => {
    expect(starts()).toEqual([
      "src/execution/start-command.ts: createShell",
      "src/execution/start-command.ts: run",
      "src/execution/start-command.ts: start",
      "src/execution/syntax-check.ts: createShell",
      "src/mcp/bypass.ts: createShell",
      "src/mcp/bypass.ts: run",
    ]);
  }, 120_000);

  test("code outside admission.ts that creates an Admitted does not compile", () => {
    const source = program.getSourceFile(join(root, "src/mcp/made-up.ts"));
    // 2673: the constructor is private; 2345: an argument of another type.
    expect(program.getSemanticDiagnostics(source).map(({ code }) => code)).toEqual([2673, 2345]);
  }, 120_000);
});

describe("every name is unique", () => {
  // The package's entry points share the name of the folder that they export. Schemas have the name of a provider.
  const isFree = (file: string) => /^src\/[^/]*\.ts$|^src\/tool\/schemas\//.test(file);
  const sources = ts.sys
    .readDirectory(join(root, "src"), [".ts"])
    .map((path) => relative(root, path))
    .filter((file) => !isFree(file));

  /** Names with more than one place, as `name: places`. */
  function repeated(places: Iterable<readonly [name: string, place: string]>): string[] {
    const found = new Map<string, string[]>();
    for (const [name, place] of places) found.set(name, [...(found.get(name) ?? []), place]);
    return [...found].filter(([, all]) => all.length > 1).map(([name, all]) => `${name}: ${all.join(", ")}`);
  }

  function exportsOf(file: string, text: string): [name: string, place: string][] {
    const declaration =
      /^export (?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;
    return [...new Set([...text.matchAll(declaration)].map(([, name = ""]) => name))].map((name) => [
      name,
      file,
    ]);
  }

  test("among the files", () => {
    expect(sources.length).toBeGreaterThan(300);
    expect(repeated(sources.map((file) => [basename(file), file]))).toEqual([]);
  });

  test("among the exported symbols", () => {
    expect(
      repeated(sources.flatMap((file) => exportsOf(file, readFileSync(join(root, file), "utf8")))),
    ).toEqual([]);
    const planted = [
      ...exportsOf("a.ts", "export const one = 1;\n"),
      ...exportsOf("b.ts", "export function one() {}\n"),
    ];
    expect(repeated(planted)).toEqual(["one: a.ts, b.ts"]);
  });
});

test("the built package exports exactly its public names", () => {
  const names = execFileSync(
    process.execPath,
    ["-e", 'import("nacre").then((m) => console.log(Object.keys(m).sort().join(" ")))'],
    { cwd: root, encoding: "utf8" },
  );
  expect(names.trim().split(" ")).toEqual([
    "BaseTool",
    "BashModesTool",
    "BashOutputTool",
    "BashTool",
    "ERROR_CODES",
    "EditTool",
    "GlobTool",
    "GrepTool",
    "KillShellTool",
    "NacreError",
    "ReadTool",
    "SHELL_STATUSES",
    "SHELL_TRANSITIONS",
    "ShellManager",
    "ShellProcess",
    "ShellStatus",
    "TOOL_CATEGORIES",
    "ToolExecutor",
    "ToolParameter",
    "ToolRegistry",
    "ToolResult",
    "WriteTool",
    "createContext",
    "createFleet",
    "createToolkit",
    "docker",
    "kubernetes",
    "pathBytes",
    "pathText",
    "registerAllTools",
    "registerExecutionTools",
    "registerFileTools",
    "registerModesTool",
    "shellQuote",
    "slurm",
    "verifyAudit",
  ]);
});
