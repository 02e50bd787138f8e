// npm run clients [-- NAME...]: tests `nacre mcp` with real MCP clients. Each client lists the tools and runs a
// command, driven by a fake model on this machine. Installs the clients into .cache/clients, which takes a while, so
// npm test does not run it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeModel } from "./clients/fake-model.mjs";
import { installAside, NODE, NODE_24, nodeIn } from "./install-aside.mjs";
import { ensureBuilt, root } from "./setup.mjs";

const PACKAGES = {
  [NODE]: NODE_24,
  "@modelcontextprotocol/inspector": "2.12.0",
  "@anthropic-ai/claude-code": "2.1.325",
  "@openai/codex": "0.166.0",
  "@google/gemini-cli": "0.61.0",
  "opencode-ai": "1.18.33",
};
const CLIENT_MAX_MS = 120_000;

ensureBuilt();
const home = installAside("clients", PACKAGES);
const node24 = nodeIn(home);
const nacre = join(root, "dist/cli/main.js");
// The expected output does not appear in the command, so a client that prints it has run the command.
const COMMAND = "echo $((6 * 7))-from-nacre";
const EXPECTED = "42-from-nacre";

const CLIENTS = { inspector, claude, codex, gemini, opencode };
const wanted = process.argv.slice(2);
let failed = 0;
for (const [name, runClient] of Object.entries(CLIENTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const folder = mkdtempSync(join(tmpdir(), "nacre-client-"));
  try {
    const { tools, result } = await runClient(folder);
    const missing = ["Bash", "BashOutput", "KillShell"].filter(
      (tool) => !tools.some((known) => known.endsWith(tool)),
    );
    if (missing.length > 0)
      throw new Error(`the client did not list ${missing.join(", ")}, only ${tools.join(", ")}`);
    if (!result.includes(EXPECTED)) throw new Error(`the result was: ${result.slice(0, 2_000)}`);
    console.log(`ok      ${name}: 3 tools, and a result: ${JSON.stringify(result.slice(0, 160))}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exit(failed === 0 ? 0 : 1);

async function inspector(folder) {
  const cli = (...args) =>
    run(folder, node24, [
      bin("@modelcontextprotocol/inspector"),
      "--cli",
      process.execPath,
      nacre,
      "mcp",
      ...args,
    ]);
  const { tools } = JSON.parse(firstJson(await cli("--method", "tools/list")));
  const result = await cli(
    ...["--method", "tools/call", "--tool-name", "Bash", "--tool-arg", `command=${COMMAND}`],
  );
  return { tools: tools.map(({ name }) => name), result };
}

async function claude(folder) {
  return await withModel(async (model) => {
    const config = join(folder, "mcp.json");
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { nacre: { command: process.execPath, args: [nacre, "mcp"] } } }),
    );
    const binary = join(
      home,
      "node_modules/@anthropic-ai",
      `claude-code-${process.platform}-${process.arch}`,
      "claude",
    );
    const args = [
      "-p",
      "run it",
      "--mcp-config",
      config,
      "--strict-mcp-config",
      "--allowedTools",
      "mcp__nacre",
    ];
    return await run(folder, binary, args, {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "not-a-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ENABLE_TOOL_SEARCH: "false",
      DISABLE_AUTOUPDATER: "1",
    });
  });
}

async function codex(folder) {
  return await withModel(async (model) => {
    const settings = [
      'model="fake"',
      'model_provider="fake"',
      `model_providers.fake={name="fake",base_url="${model.url}/v1",wire_api="responses",requires_openai_auth=false}`,
      `mcp_servers.nacre={command="${process.execPath}",args=["${nacre}","mcp"],env={NACRE_HOME="${join(folder, "state")}"},default_tools_approval_mode="approve"}`,
    ];
    const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    for (const setting of settings) args.push("-c", setting);
    return await run(folder, node24, [bin("@openai/codex"), ...args, "run it"]);
  });
}

async function gemini(folder) {
  return await withModel(async (model) => {
    mkdirSync(join(folder, ".gemini"));
    writeFileSync(
      join(folder, ".gemini/settings.json"),
      JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        mcpServers: { nacre: { command: process.execPath, args: [nacre, "mcp"], trust: true } },
      }),
    );
    return await run(
      folder,
      node24,
      [bin("@google/gemini-cli"), "--yolo", "--skip-trust", "-m", "gemini-2.5-flash", "-p", "run it"],
      { GEMINI_API_KEY: "not-a-key", GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: "true" },
    );
  });
}

async function opencode(folder) {
  return await withModel(async (model) => {
    const config = {
      provider: {
        fake: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${model.url}/v1`, apiKey: "not-a-key" },
          models: { fake: {} },
        },
      },
      mcp: { nacre: { type: "local", command: [process.execPath, nacre, "mcp"], enabled: true } },
      autoupdate: false,
      share: "disabled",
    };
    writeFileSync(join(folder, "opencode.json"), JSON.stringify(config));
    const binary = join(home, "node_modules", `opencode-${process.platform}-${process.arch}`, "bin/opencode");
    return await run(folder, binary, ["run", "-m", "fake/fake", "run it"], {
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    });
  });
}

/** Runs an agent against the fake model. The requests that the model receives prove what the agent did. */
async function withModel(runClient) {
  const model = await startFakeModel(COMMAND);
  let output = "";
  try {
    output = await runClient(model);
  } catch (error) {
    output = error.message;
  } finally {
    model.stop();
  }
  const { tools, results, requests } = model.seen;
  const own = [...tools].filter((name) => /nacre/i.test(name));
  if (own.length === 0) {
    throw new Error(`the model was not offered our tools; it received ${requests.join(", ")}\n${output}`);
  }
  if (results.length === 0) throw new Error(`the tool was not called\n${output}`);
  return { tools: own, result: results.join("\n") };
}

function bin(name) {
  const folder = join(home, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, typeof bin === "string" ? bin : Object.values(bin)[0]);
}

/** Uses a temporary home directory, so that the client neither reads nor changes the user's settings. */
async function run(folder, file, args, env = {}) {
  const child = spawn(file, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, NACRE_HOME: join(folder, "state"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: CLIENT_MAX_MS,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new Error(`exit code ${code}\n${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}`);
  return stdout;
}

function firstJson(text) {
  return text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
}
