// Typical first uses of the library, one row each. npm run newcomer type-checks this file as TypeScript and runs it
// with plain Node, in Jest and in vitest, always from the packed package. So it is valid JavaScript and valid strict
// TypeScript.
import { deepEqual as equal } from "node:assert/strict";
import { createToolkit, NacreError, shellQuote } from "nacre";

/** Name and test of each row. */
export const rows = Object.entries({
  "createToolkit() works in the current directory": async () => {
    const kit = await createToolkit();
    const { stdout } = await kit.run("pwd");
    equal(stdout.trim(), process.cwd());
    await kit.dispose();
  },

  "kit.run returns stdout and ok": async () => {
    const kit = await createToolkit();
    const { stdout, stderr, ok, exitCode } = await kit.run("echo out; echo err >&2");
    equal([stdout, stderr, ok, exitCode], ["out\n", "err\n", true, 0]);
    equal((await kit.run("exit 3")).ok, false);
    await kit.dispose();
  },

  "kit.run streams to onOutput": async () => {
    const kit = await createToolkit();
    const pieces = [""];
    await kit.run("echo one; echo two >&2", {
      onOutput: ({ stream, text }) => void pieces.push(`${stream}: ${text}`),
    });
    equal(pieces.sort(), ["", "stderr: two\n", "stdout: one\n"]);
    await kit.dispose();
  },

  "kit.run is an async iterable": async () => {
    const kit = await createToolkit();
    let all = "";
    for await (const { text } of kit.run("printf one; printf two")) all += text;
    equal(all, "onetwo");
    await kit.dispose();
  },

  "a failed result has an error": async () => {
    const kit = await createToolkit();
    const result = await kit.call("Bash", { command: "exit 7" });
    if (result.success) throw new Error("it succeeded");
    equal(result.error.length > 0, true);
    equal(result.code, "exit_nonzero");
    await kit.dispose();
  },

  "a refusal names its rule": async () => {
    const kit = await createToolkit();
    try {
      await kit.run("rm -rf /");
      throw new Error("it ran");
    } catch (error) {
      if (!(error instanceof NacreError)) throw error;
      equal([error.code, error.rule], ["policy_denied", "delete-root"]);
      equal([typeof error.reason, typeof error.alternative, error.cwd], ["string", "string", process.cwd()]);
    }
    await kit.dispose();
  },

  "kit.run passes input": async () => {
    const kit = await createToolkit();
    equal((await kit.run("cat", { input: "x" })).stdout, "x");
    await kit.dispose();
  },

  "kit.sh quotes its values": async () => {
    const kit = await createToolkit();
    const name = "it's $HOME; echo no";
    equal((await kit.sh`echo ${name}`).stdout, `${name}\n`);
    equal((await kit.run(`echo ${shellQuote(name)}`)).stdout, `${name}\n`);
    await kit.dispose();
  },

  "shell.output ends when its signal aborts": async () => {
    const kit = await createToolkit();
    const server = await kit.session().start("echo listening; sleep 1000");
    await server.waitFor("listening", 20_000);
    const stop = new AbortController();
    for await (const { text } of server.output({ signal: stop.signal }))
      if (text.includes("listening")) stop.abort();
    equal(server.isRunning, true);
    const { survivors } = await server.kill();
    equal(survivors, []);
    await server.waitFor("exit", 20_000);
    await kit.dispose();
  },

  "approve answers with a reason and gets cwd and session": async () => {
    const asked = [""];
    const kit = await createToolkit({
      approve: ({ command, cwd, session }) => {
        asked.push(`${command} in ${cwd === process.cwd()}, session ${session}`);
        return { allow: false, reason: "not today" };
      },
    });
    const result = await kit.call("Bash", { command: "git clean -fdx" });
    equal([result.success, result.code], [false, "approval_refused"]);
    equal(String(result.error).includes("not today"), true);
    equal(asked[1], "git clean -fdx in true, session default");
    await kit.dispose();
  },

  "options are checked": async () => {
    const kit = await createToolkit();
    equal((await kit.call("Bash", { command: "echo hi" }, { timeoutMs: 20_000 })).success, true);
    const typo = JSON.parse('{ "timeoutMS": 5 }');
    const { code, error } = await kit.call("Bash", { command: "echo hi" }, typo);
    equal([code, error], ["invalid_input", "kit.call has no option timeoutMS. Did you mean timeoutMs?"]);
    const tool = "Bash".concat("");
    equal(String((await kit.call(tool, { comand: "ls" })).error).includes("command"), true);
    await kit.dispose();
  },

  "kit.shells.killAll ends everything": async () => {
    const kit = await createToolkit();
    await kit.session().start("sleep 1000");
    await kit.session().start("sleep 1000");
    equal(await kit.shells.killAll(), 2);
    equal(
      JSON.parse(JSON.stringify(kit.shells.list())).map(() => 1),
      [1, 1],
    );
    await kit.dispose();
  },
});
