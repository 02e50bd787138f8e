// A sandboxed command can write only to its own directory and has no network. The policy is off here, so that the sandbox
// stops the commands.
// Needs bubblewrap (Debian: apt-get install bubblewrap).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolkit } from "nacre";

const workingDir = mkdtempSync(join(tmpdir(), "nacre-example-"));
const kit = await createToolkit({ workingDir, sandbox: "workspace-write", policy: "off" });
try {
  for (const command of [
    "echo mine > here.txt && cat here.txt",
    "echo hi > /etc/greeting",
    "cat ~/.ssh/id_rsa",
  ]) {
    const { success, output, error } = await kit.call("Bash", { command });
    console.log(`${success ? "done" : "stopped"}: ${command}`);
    console.log((output || error).trim());
  }
} finally {
  await kit.dispose();
  rmSync(workingDir, { recursive: true, force: true });
}
