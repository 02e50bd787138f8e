import { describe, expect, it } from "vitest";
import { explain, judge } from "../../src/policy/judge.ts";
import { dev, verdictOf } from "./dev.ts";

describe("judge", () => {
  it("returns the rule, the reason, the span and the alternative", () => {
    const verdict = judge("ls; rm -rf /", dev);
    expect(verdict).toMatchObject({
      verdict: "deny",
      rule: "delete-root",
      severity: "critical",
      span: { start: 11, end: 12 },
    });
    expect(verdict.reason).toContain("whole file system");
    expect(verdict.alternative).toContain("rm -rf ./build");
  });

  it("lets the strictest finding decide, and reports the other findings too", () => {
    const verdict = judge("sudo rm -rf /", dev);
    expect(verdict.rule).toBe("delete-root");
    expect(verdict.findings.map(({ rule }) => rule)).toEqual(["delete-root", "elevate"]);
  });

  it("reports the span of a nested text in the command for a finding in that text", () => {
    const command = "echo hi && bash -c 'rm -rf /'";
    expect(judge(command, dev).span).toEqual({ start: 19, end: 29 });
  });

  it("distinguishes a name that is not UTF-8 from the name with replacement characters", () => {
    const replaced = { cwd: "/srv/d\ufffd", workspace: "/srv/d\ufffd" };
    const stray = { cwd: "/srv/d\udcff", workspace: "/srv/d\udcff" };
    expect(verdictOf("rm -rf build", replaced)).toBe("allow");
    expect(verdictOf("rm -rf build", stray)).toBe("allow");
    expect(verdictOf("rm -rf build", { ...replaced, cwd: stray.cwd })).toBe("ask");
    expect(verdictOf("rm -rf build", { ...stray, cwd: replaced.cwd })).toBe("ask");
    const words = [
      ...["$'/srv/d\\xff/build'", "$'/srv/d\\377/build'", "$'/srv/\\x64\\xFF/build'"],
      ...[
        `"$(printf '/srv/d\\xff/build')"`,
        `"$(printf %b '/srv/d\\0377/build')"`,
        `"$(echo -e '/srv/d\\xff/build')"`,
      ],
    ];
    for (const word of words) {
      expect(verdictOf(`rm -rf ${word}`, replaced)).toBe("ask");
      expect(verdictOf(`rm -rf ${word}`, stray)).toBe("allow");
    }
    const { reason } = judge("rm -rf .", { ...dev, ...replaced, cwd: stray.cwd });
    expect(reason).toContain("/srv/d\\xff");
  });

  it.each([
    ["bytes that form a character", "$'/srv/\\xc3\\xa4/x'"],
    ["octal bytes that form a character", "$'/srv/\\303\\244/x'"],
    ["a character next to a stray byte", "$'/srv/\\u00e4/\\xff'"],
    ["bytes from printf that form a character", `"$(printf '/srv/\\xc3\\xa4/x')"`],
    ["a long Unicode escape of printf", `"$(printf '/srv/\\U000000e4/x')"`],
    ["bytes in base64", "$(echo L3Nydi/DpC94 | base64 -d)"],
  ])("decodes %s", (_what, word) => {
    expect(verdictOf(`rm -rf ${word}`, { cwd: "/srv/ä", workspace: "/srv/ä" })).toBe("allow");
  });

  it.each([
    ["a slash as a long Unicode escape", `rm -rf "$(printf '\\U0000002f')"`],
    ["the root after a stray byte", "rm -rf $'\\xff/../../../../..'"],
    ["the root before a NUL", "rm -rf $'/\\0\\xff'"],
  ])("recognizes %s", (_what, command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it("returns allow without a rule, a reason or findings for a harmless command", () => {
    expect(judge("ls -la", dev)).toEqual({
      verdict: "allow",
      rule: null,
      severity: "none",
      reason: null,
      span: null,
      alternative: null,
      findings: [],
    });
  });

  it.each([
    "rm -rf /",
    "rm -rf /*",
    "mkfs.ext4 /dev/sda1",
    "dd if=/dev/zero of=/dev/sda",
    "> /dev/sda",
    "chmod -R 777 /",
    ":(){:|:&};:",
    ":(){ :|:& };:",
    "mv / /tmp",
    "chown -R dev /",
  ])("denies %j", (command) => expect(verdictOf(command)).toBe("deny"));

  it.each([
    "git status",
    "npm --version",
    "rm /tmp/test_file.txt",
    "docker ps",
    "ls",
    "pwd",
    "echo hi",
    "cat a",
    "python3 a.py",
    "node a.js",
    "make",
    "cmake .",
    "grep x a",
    "find . -name x",
    "awk 1 a",
    "sed -n 1p a",
    "# only a comment",
    "",
  ])("allows %j", (command) => expect(verdictOf(command)).toBe("allow"));

  it.each([
    ["git clean -fd", /git stash -u/],
    ["git -c clean.requireForce=false clean -d", /git stash -u/],
    ["git worktree remove --force ../x", /git stash -u/],
    ["git reset --hard", /git stash,/],
    ["git push --force", /--force-with-lease/],
  ])("suggests an alternative to %j that loses no work", (command, alternative) => {
    expect(judge(command, dev)).toMatchObject({
      rule: "git-lose-work",
      alternative: expect.stringMatching(alternative),
    });
  });

  it("asks about text that is not bash", () => {
    expect(judge("echo 'open", dev)).toMatchObject({ verdict: "ask", rule: "unparsed" });
    expect(judge("echo $(if)", dev)).toMatchObject({ verdict: "ask", rule: "unparsed" });
  });

  it("uses home, directory and workspace from the facts", () => {
    expect(verdictOf("rm -rf ..", { home: "/root", cwd: "/srv/main" })).toBe("deny");
    expect(verdictOf("rm -rf ../other", { home: "/root", cwd: "/srv/main" })).toBe("ask");
    expect(verdictOf("rm -rf ../other", { home: "/root", cwd: "/srv/main/a", workspace: "/srv/main" })).toBe(
      "allow",
    );
    expect(verdictOf("rm -rf dist", { home: "/root", cwd: "/usr/src/app" })).toBe("allow");
    expect(verdictOf("rm -rf dist", { home: "/root", cwd: "/" })).toBe("ask");
    expect(verdictOf("rm -rf ~", { home: "/root", cwd: "/root/p", isRoot: true })).toBe("deny");
  });
});

describe("explain", () => {
  it("returns the parse, the effective commands, the resolved paths and the rules", () => {
    const explanation = explain("cd / && sudo rm -rf etc", dev);
    expect(explanation.parse).toEqual({ ok: true, problems: [] });
    expect(explanation.commands.map(({ program }) => program)).toEqual(["cd", "sudo", "rm"]);
    expect(explanation.commands[2]).toEqual({
      program: "rm",
      args: ["-rf", "etc"],
      via: ["sudo"],
      cwd: ["/"],
      span: { start: 8, end: 23 },
      paths: [{ effect: "delete", path: "/etc", class: "system", recursive: true }],
      rules: ["delete-system"],
    });
    expect(explanation.verdict).toEqual(judge("cd / && sudo rm -rf etc", dev));
  });

  it("marks the unknown parts of words", () => {
    const [command] = explain('rm -rf "$X/a"*', dev).commands;
    expect(command?.args).toEqual(["-rf", "…/a*"]);
  });
});
