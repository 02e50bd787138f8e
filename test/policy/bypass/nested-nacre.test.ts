import { describe, expect, it } from "vitest";
import { judge } from "../../../src/policy/judge.ts";
import { dev, verdictOf } from "../dev.ts";

describe("hiding a command or a file in a nested nacre", () => {
  it.each([
    "nacre run 'rm -rf /'",
    "nacre run -- rm -rf /",
    "npx nacre run --cwd / 'rm -rf *'",
    "nacre run --audit-file a.jsonl 'rm -rf /'",
    "nacre run --shell-profile none 'rm -rf /'",
    "nacre run --max-preview-size 1M --preview 'rm -rf /'",
    "nacre run --json -b --name x rm -rf /",
    "nacre run bash -c 'rm -rf /'",
    "nacre run bash -c 'rm -rf /' --help",
    "nacre run bash -c 'rm -rf /' --dry-run",
    "nacre run rm -r --for /",
    "nacre run --cwd / bash -c 'rm -rf *' x --cwd /tmp/x",
  ])("a destructive command in a nested nacre is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each([
    ["nacre run --audit-file=/etc/passwd 'ls'", "deny", "write-system"],
    ["npx nacre mcp --audit-file /etc/passwd", "deny", "write-system"],
    ["nacre mcp --audit-file ~/.bashrc", "ask", "write-startup"],
    ["nacre run --audit-file ../../a.jsonl ls", "ask", "loosen-policy"],
    ["npx nacre run --audit-file ~/.bashrc ls", "ask", "write-startup"],
  ])("an audit file is judged as a file that nacre appends to: %j", (command, verdict, rule) => {
    const { findings, ...judged } = judge(command, dev);
    expect(judged.verdict).toBe(verdict);
    expect(findings.map((finding) => finding.rule)).toContain(rule);
  });

  it("nacre config only prints the settings", () => {
    expect(verdictOf("nacre config --audit-file ~/.bashrc")).toBe("allow");
  });
});
