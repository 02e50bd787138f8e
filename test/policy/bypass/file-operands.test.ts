import { describe, expect, it } from "vitest";
import { judge } from "../../../src/policy/judge.ts";
import { dev, verdictOf } from "../dev.ts";

/** Returns the rule of the strictest finding. */
const ruleOf = (command: string) => judge(command, dev).rule;

describe("reading or writing protected files through a builtin", () => {
  it.each([
    ["history -w ~/.bashrc", "write-startup"],
    ["history -w /etc/cron.d/x", "write-system-config"],
    ["history -w ~/.ssh/authorized_keys", "replace-keys"],
    ["history -w .git/hooks/post-checkout", "write-hooks"],
    ["history -a ~/.bash_login", "write-startup"],
    ["history -r ~/.ssh/id_rsa; history", "read-secret"],
    ["history -n ~/.ssh/id_rsa", "read-secret"],
    ["builtin history -w ~/.bashrc", "write-startup"],
    ["history -w", "write-credentials"],
    ["history -a", "write-credentials"],
    ["HISTFILE=/etc/cron.d/x history -w", "write-system-config"],
    ["export HISTFILE=~/.bashrc; history -s x; history -a", "write-startup"],
    ["fc -e ./x", "hidden-code"],
    ["fc -r -e ./x", "hidden-code"],
    ["fc -n -s", "hidden-code"],
    ["source ~/.ssh/id_rsa", "read-secret"],
    ["mapfile -t a < ~/.ssh/id_rsa", "read-secret"],
    ["read -r a < ~/.ssh/id_rsa", "read-secret"],
    ["enable -f ./x.so x", "injected-setting"],
    ["printf x > ~/.bashrc", "write-startup"],
    ["bind -f ~/.ssh/id_rsa", "read-secret"],
  ])("%j matches %s", (command, rule) => expect(ruleOf(command)).toBe(rule));

  it.each([
    "history | tail",
    "history 20",
    "history -w history.txt",
    "history -s 'echo -w y'",
    "HISTFILE= history -w",
    "fc -l",
    "fc -nl -5",
    "source ~/.bashrc",
    "mapfile -t a < list.txt",
  ])("%j is allowed", (command) => expect(verdictOf(command)).toBe("allow"));
});

describe("reading or writing protected files through git", () => {
  it.each([
    "git diff --no-index /dev/null ~/.ssh/id_rsa",
    "git diff /dev/null ~/.ssh/id_rsa",
    "git hash-object -w ~/.ssh/id_rsa",
    "git commit -F ~/.ssh/id_rsa",
    "git commit -aF ~/.ssh/id_rsa",
    "git commit --file=/home/dev/.ssh/id_rsa",
    "git tag -a v1 -F ~/.ssh/id_rsa",
    "git blame --contents ~/.ssh/id_rsa x",
    "git config -f ~/.ssh/id_rsa -l",
    "git grep --no-index . ~/.ssh",
    "git grep -f ~/.ssh/id_rsa",
    "git apply ~/.ssh/id_rsa",
    "git archive --add-file=/home/dev/.ssh/id_rsa HEAD",
    "git -C ~ hash-object .ssh/id_rsa",
    "git -C / -C home/dev diff --no-index /dev/null .ssh/id_rsa",
    "cd ~/.ssh && git hash-object -w id_rsa",
    "install ~/.ssh/id_rsa x",
  ])("the policy asks about reading a key: %j", (command) => {
    expect(judge(command, dev)).toMatchObject({ verdict: "ask", rule: "read-secret" });
  });

  it("git send-email matches send-secret for a key, and upload for a patch", () => {
    expect(ruleOf("git send-email ~/.ssh/id_rsa")).toBe("send-secret");
    expect(ruleOf("git send-email 0001-fix.patch")).toBe("upload");
    expect(verdictOf("git send-email --dry-run 0001-fix.patch")).toBe("allow");
  });

  it.each([
    ["git worktree add /etc/x", "unexplained-path"],
    ["git init --template=x ~", "runs-program"],
    ["git clone --template x https://github.com/a/b", "runs-program"],
    ["install -m 4755 /bin/bash sb", "setuid"],
    ["install -m u+s /bin/bash sb", "setuid"],
    ["install --mode=04755 /bin/bash sb", "setuid"],
    ["install -d -m 2775 dir", "setuid"],
    ["install -d /etc/x", "write-system-config"],
    ["chmod 04755 sb", "setuid"],
  ])("%j matches %s", (command, rule) => expect(ruleOf(command)).toBe(rule));

  it.each([
    "git diff a b",
    "git diff main..feature -- src/a.ts",
    "git apply fix.patch",
    "git apply ../fix.patch",
    "git commit -F msg.txt",
    "git commit -F /tmp/msg.txt",
    "git config -f .gitmodules -l",
    "git config user.signingkey ~/.ssh/id_ed25519",
    "git grep -n /home/dev/.ssh/id_rsa",
    "git add -A",
    "git worktree add -b fix ../fix main",
    "git init",
    "git init --template= x",
    "git commit --template=x",
    "install -m 755 app bin/app",
    "install -d -m 755 build/a build/b",
    "install -d ~/.local/bin",
    "install -Dm644 a.conf build/etc/a.conf",
  ])("%j is allowed", (command) => expect(verdictOf(command)).toBe("allow"));
});
