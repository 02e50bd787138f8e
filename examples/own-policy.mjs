// Adds a rule to the built-in ones, and asks a person when the policy requires approval.
import { createToolkit } from "nacre";

const kit = await createToolkit({
  workingDir: process.cwd(),
  rules: [
    {
      id: "no-main-push",
      verdict: "deny",
      program: "git",
      args: ["push", "main"],
      reason: "main is protected.",
      alternative: "Push a branch and open a pull request.",
      matches: ["git push origin main"],
      misses: ["git push origin feature"],
    },
  ],
  approve: async ({ command, reason }) => {
    console.log(`May it run "${command}"? ${reason}`);
    return false;
  },
});
try {
  for (const command of ["git status", "git push origin main", "git push --force", "rm -rf /"]) {
    const { verdict, rule } = kit.check(command);
    console.log(`${verdict}: ${command}${rule ? ` (${rule})` : ""}`);
  }
  const { error } = await kit.call("Bash", { command: "git push --force" });
  console.log(error);
} finally {
  await kit.dispose();
}
