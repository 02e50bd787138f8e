// Counts the tokens (o200k_base) that a model reads: the schemas of the shell tools and the results of eight recorded
// tasks. Compares nacre with the tools of two peers. Each tool is used as its description recommends.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolkit } from "nacre";
import { importPeer, peerTitle } from "./shared/peers.mjs";
import { note, table, target } from "./shared/report.mjs";
import { connect, SERVERS, serverEnv, textOf } from "./shared/servers.mjs";

const TASKS = [
  "failing test run",
  "build with a progress bar",
  "start a server",
  "2 MB log",
  "kill",
  "first error in a 2 MB build log",
  "wait for a port",
  "notice a failed job",
];
const LOGS = [TASKS.indexOf("2 MB log"), TASKS.indexOf("first error in a 2 MB build log")];
/** The command that a model runs if its tools cannot wait for a port. */
const untilReachable = (port) =>
  `until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.1; done; echo ready`;
const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const dir = join(scratch, "work");
mkdirSync(dir);
writePrograms();

const tokenizer = await importPeer("gpt-tokenizer");
const tools = [];
try {
  if (tokenizer) {
    tools.push(await ours());
    for (const open of [desktopCommander, piTool]) {
      const tool = await open();
      if (tool) tools.push(tool);
    }
    for (const tool of tools) tool.results = await record(tool);
    report();
  }
} finally {
  for (const { close } of tools) await close();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Programs with realistic and reproducible output. */
function writePrograms() {
  const passes = Array.from(
    { length: 60 },
    (_, i) => `echo "  ✓ test/unit/case-${i}.test.ts (3 tests) ${i + 12}ms"`,
  );
  const failures = [
    "echo; echo ' FAIL  test/unit/parser.test.ts > reads an empty file'",
    "echo 'AssertionError: expected undefined to deeply equal []' >&2",
    ...Array.from({ length: 8 }, (_, i) => `echo "    at parse (src/parser.ts:${i + 40}:11)" >&2`),
    "echo; echo ' Tests  1 failed | 180 passed (181)'; exit 1",
  ];
  writeFileSync(join(dir, "tests.sh"), [...passes, ...failures].join("\n"));
  writeFileSync(
    join(dir, "build.sh"),
    `for ((i = 0; i <= 200; i++)); do
  printf '\\r\\033[2K\\033[32m%-40s\\033[0m %3d%% building modules (%d/200)' "$(printf '#%.0s' $(seq $((i / 5 + 1))))" $((i / 2)) $i
done
printf '\\n\\033[1mdist/index.js\\033[0m  142.11 kB\\nbuilt in 3.21s\\n'`,
  );
  writeFileSync(
    join(dir, "server.sh"),
    "echo '> app@1.0.0 dev'; echo 'compiling...'; sleep 0.5; echo 'listening on 8080'; exec sleep 98766",
  );
  writeFileSync(
    join(dir, "compile.sh"),
    `for ((i = 0; i < 21000; i++)); do
  echo "[$i/21000] Building CXX object src/CMakeFiles/app.dir/module_$i.cpp.o from module_$i.cpp"
  if ((i == 9000)); then echo "src/module_9000.cpp:41:7: error: use of undeclared identifier 'total'"; fi
  if ((i > 9000 && i % 1000 == 0)); then echo "src/module_$i.cpp:3:10: error: skipped after an earlier failure"; fi
done; exit 1`,
  );
  writeFileSync(
    join(dir, "listen.cjs"),
    `setTimeout(() => require("node:net").createServer().listen(process.argv[2], "127.0.0.1"), 500);
setTimeout(() => process.exit(), 20_000);`,
  );
  writeFileSync(
    join(dir, "job.sh"),
    "echo 'migrating 3 tables'; sleep 0.3; echo 'relation \"users\" does not exist' >&2; exit 3",
  );
  const log = Array.from(
    { length: 32_000 },
    (_, i) =>
      `2026-01-01T00:00:${String(i % 60).padStart(2, "0")}Z INFO request ${i} GET /api/items/${i} 200 in ${i % 97} ms\n`,
  );
  writeFileSync(
    join(dir, "app.log"),
    `${log.join("")}2026-01-01T00:01:00Z ERROR out of memory\n`.slice(-2 * 1024 ** 2),
  );
}

/** Runs the tasks. Returns the texts that the model reads, in one list per task. */
async function record({ run, serve, stop, findError, awaitPort, noticeFailure }) {
  const test = [await run("bash tests.sh")];
  const build = [await run("bash build.sh")];
  const server = await serve();
  const log = [await run("cat app.log")];
  const killed = await stop();
  const error = await findError("bash compile.sh");
  const number = await freePort();
  const port = await awaitPort(`exec ${process.execPath} listen.cjs ${number}`, number);
  const failure = await noticeFailure("bash job.sh");
  return [test, build, server, log, killed, error, port, failure];
}

async function ours() {
  const kit = await createToolkit({ workingDir: dir, stateRoot: join(scratch, "state") });
  const call = async (name, args) => {
    const { output, error, metadata, notes } = await kit.call(name, args);
    // The same order as over MCP: error, output, notes.
    const text = [error, output, ...(notes ?? [])].filter(Boolean).join("\n");
    return { text, metadata };
  };
  let id = "";
  return {
    title: "nacre",
    schemas: kit.schemas("anthropic"),
    run: async (command) => (await call("Bash", { command })).text,
    serve: async () => {
      const started = await call("Bash", { command: "bash server.sh", run_in_background: true });
      id = started.metadata.bash_id;
      return [started.text, (await call("BashOutput", { bash_id: id, wait_for: "listening on" })).text];
    },
    stop: async () => [(await call("KillShell", { shell_id: id })).text],
    findError: async (command) => {
      const built = await call("Bash", { command });
      const args = { bash_id: built.metadata.bash_id, search: "error:", max_lines: 1 };
      return [built.text, (await call("BashOutput", args)).text];
    },
    awaitPort: async (command, port) => {
      const started = await call("Bash", { command, run_in_background: true });
      const { bash_id } = started.metadata;
      return [started.text, (await call("BashOutput", { bash_id, wait_for_port: port })).text];
    },
    noticeFailure: async (command) => {
      const started = await call("Bash", { command, run_in_background: true });
      // The model runs another command, whose result reports that the job has ended.
      const other = await call("Bash", { command: "sleep 1; echo other work" });
      const { bash_id } = started.metadata;
      return [started.text, other.text, (await call("BashOutput", { bash_id })).text];
    },
    close: () => kit[Symbol.asyncDispose](),
  };
}

async function desktopCommander() {
  const server = SERVERS["desktop-commander"]();
  if (!server) return undefined;
  const { client, tools: all, close } = await connect(server, serverEnv(scratch, "commander"), dir);
  const call = async (name, args) =>
    textOf(await client.callTool({ name, arguments: args }, { timeout: 120_000 }));
  const names = [
    "start_process",
    "read_process_output",
    "interact_with_process",
    "force_terminate",
    "list_sessions",
  ];
  let pid = 0;
  return {
    title: server.title,
    schemas: all
      .filter(({ name }) => names.includes(name))
      .map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    run: (command) => call("start_process", { command: `cd ${dir} && ${command}`, timeout_ms: 60_000 }),
    serve: async () => {
      const started = await call("start_process", {
        command: `cd ${dir} && bash server.sh`,
        timeout_ms: 200,
      });
      pid = Number(/PID (\d+)/.exec(started)?.[1]);
      return [started, await call("read_process_output", { pid, timeout_ms: 2_000 })];
    },
    stop: async () => [await call("force_terminate", { pid })],
    findError: async (command) => [
      await call("start_process", { command: `cd ${dir} && ${command}`, timeout_ms: 60_000 }),
      await call("start_process", {
        command: `cd ${dir} && ${command} | grep -n -m1 error:`,
        timeout_ms: 60_000,
      }),
    ],
    awaitPort: async (command, port) => {
      const started = await call("start_process", { command: `cd ${dir} && ${command}`, timeout_ms: 200 });
      const ask = { command: untilReachable(port), timeout_ms: 10_000 };
      return [started, await call("start_process", ask)];
    },
    noticeFailure: async (command) => {
      const started = await call("start_process", { command: `cd ${dir} && ${command}`, timeout_ms: 100 });
      const other = await call("start_process", { command: "sleep 1; echo other work", timeout_ms: 5_000 });
      const jobPid = Number(/PID (\d+)/.exec(started)?.[1]);
      return [started, other, await call("read_process_output", { pid: jobPid, timeout_ms: 1_000 })];
    },
    close,
  };
}

/** This tool has no background mode, so the tasks start long-running programs with `&`, as its users do. */
async function piTool() {
  const pi = await importPeer("pi");
  if (!pi) return undefined;
  const tool = pi.createBashTool(dir);
  const call = async (command) => {
    try {
      return textOf(await tool.execute("bench", { command }));
    } catch (error) {
      return error.message;
    }
  };
  let pid = "";
  return {
    title: peerTitle("pi").replace("pi", "pi bash tool"),
    schemas: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
    run: call,
    serve: async () => {
      const started = await call("bash server.sh > server.log 2>&1 & echo $!");
      pid = started.trim();
      return [started, await call("sleep 2; cat server.log")];
    },
    stop: async () => [await call(`kill ${pid} && echo stopped`)],
    findError: async (command) => {
      const built = await call(command);
      // The result names the file with the whole output.
      const file = /(\/\S+\.log)/.exec(built)?.[1];
      return [built, await call(`grep -n -m1 error: ${file ?? "compile.log"}`)];
    },
    awaitPort: async (command, port) => [
      await call(`${command} > listen.log 2>&1 & echo $!`),
      await call(`${untilReachable(port)}; cat listen.log`),
    ],
    noticeFailure: async (command) => [
      await call(`(${command}; echo "exit code $?") > job.log 2>&1 & echo $!`),
      await call("sleep 1; echo other work"),
      await call("cat job.log"),
    ],
    close: () => {},
  };
}

function report() {
  const count = (text) => tokenizer.encode(text).length;
  const rows = tools.map(({ title, schemas, results }) => {
    const parts = [count(JSON.stringify(schemas)), ...results.map((texts) => count(texts.join("\n")))];
    return { title, parts, sum: parts.reduce((a, b) => a + b, 0) };
  });
  const [nacre, ...peers] = rows;
  table(
    "Tokens a model reads: sum relative to nacre",
    ["tool", "relative to nacre"],
    rows.map(({ title, sum }) => [title, `${(sum / nacre.sum).toFixed(2)}x`]),
  );
  table(
    "Tokens a model reads",
    ["tool", "schemas", ...TASKS, "sum", "sum without the logs"],
    rows.map(({ title, parts, sum }) => [
      title,
      ...parts,
      sum,
      LOGS.reduce((rest, log) => rest - parts[log + 1], sum),
    ]),
  );
  if (peers.length > 0) {
    const best = Math.min(...peers.map(({ sum }) => sum));
    target("tokens in total, relative to the best peer", (nacre.sum / best) * 100, { atMost: 60 }, " %");
  }
  note("Counts only the five tools of desktop-commander that run and read processes; it lists many more.");
  if (process.env.BENCH_TEXTS) {
    for (const { title, results } of tools)
      for (const [i, texts] of results.entries()) {
        console.log(`\n=== ${title}, ${TASKS[i]}\n${texts.join("\n---\n").slice(0, 1500)}`);
      }
  }
}
