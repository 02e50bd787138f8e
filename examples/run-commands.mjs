// Runs commands from a program: results as data, quoted values, live output, input, and a refusal.
import { createToolkit, NacreError } from "nacre";

const kit = await createToolkit({
  workingDir: "/",
  // Ask a person here. The reason is in the error of the refused command.
  approve: () => ({ allow: false, reason: "no person can answer now" }),
});
try {
  const { ok, stdout, durationMs } = await kit.run("echo hello");
  console.log(ok, stdout.trim(), durationMs < 60_000);

  const file = "it's a file; $HOME";
  console.log((await kit.sh`basename ${`/tmp/${file}`}`).stdout.trim());

  const run = kit.run("echo one; echo two >&2; exit 3", { timeoutMs: 10_000 });
  for await (const { stream, text } of run) console.log(`${stream}: ${text.trim()}`);
  console.log("exit code", (await run).exitCode);

  console.log((await kit.run("tr a-z A-Z", { input: "from stdin" })).stdout);

  const server = await kit.session("dev").start("echo ready; sleep 1000");
  await server.waitFor("ready", 10_000);
  console.log("ended", await kit.shells.killAll());

  await kit.run("rm -rf /");
} catch (error) {
  if (!(error instanceof NacreError)) throw error;
  console.log(error.code, error.rule);
} finally {
  await kit.dispose();
}
