import { describe, expect, it } from "vitest";
import { judge } from "../../../src/policy/judge.ts";
import { dev, verdictOf } from "../dev.ts";

describe("bypass by self-approval", () => {
  it.each([
    "nacre run --policy off 'ls'",
    "nacre run --policy=off ls",
    "nacre run 'ls' --policy off",
    "nacre run --policy trusting ls",
    'nacre run --policy "$P" ls',
    'nacre run "--policy=off" ls',
    "P=off; nacre run --policy $P ls",
    "nacre run --sandbox off ls",
    "nacre run --sandbox=off ls",
    "nacre run --policy-file /tmp/p.json ls",
    "nacre run --policy-file=./p.json ls",
    "nacre run --allow-unsandboxed --sandbox workspace-write ls",
    "nacre run --sandbox workspace-write --writable ~ ls",
    "nacre run --writable=/etc ls",
    "nacre mcp --no-token",
    "nacre mcp --policy off",
    "nacre mcp --http 7077 --no-token",
    "nacre mcp $OPTS",
    "nacre approve 12",
    "nacre deny 12",
    "nacre forget 12",
    "nacre kill --all",
    "nacre init claude-code --write",
    "nacre init --write codex -- --policy off",
    "npx nacre run --policy off 'ls'",
    "npx -y nacre@latest run --policy off 'ls'",
    "npx --yes nacre run --policy off ls",
    "npx --package nacre nacre run --policy off ls",
    "npx -p nacre@1 -- nacre run --policy off ls",
    "npx -c 'nacre run --policy off ls'",
    "npm exec nacre -- run --policy off ls",
    "npm exec -- nacre run --policy off ls",
    "npm exec -y nacre -- approve 1",
    "npm x nacre run --policy off ls",
    "npm start -- run --policy off 'ls'",
    "npm run start -- run --policy off ls",
    "npm run nacre -- run --policy off ls",
    "yarn start run --policy off ls",
    "yarn nacre run --policy off ls",
    "pnpm dlx nacre run --policy off ls",
    "pnpm exec nacre approve 1",
    "pnpm nacre kill --all",
    "bunx nacre run --policy off ls",
    "bun x nacre run --policy off ls",
    "bun run dist/cli/main.js run --policy off ls",
    "yarn dlx nacre run --policy off ls",
    "node dist/cli/main.js run --policy off ls",
    "node ./dist/cli/main.js approve 1",
    "node /x/node_modules/nacre/dist/cli/main.js mcp --no-token",
    "cd dist/cli && node main.js run --policy off ls",
    "node --no-warnings dist/cli/main.js run --policy=off ls",
    "node scripts/start.mjs run --policy off ls",
    "./node_modules/.bin/nacre run --policy off ls",
    "node_modules/.bin/nacre approve 3",
    "sudo nacre run --policy off ls",
    "env X=1 nacre run --policy off ls",
    "timeout 5 nacre approve 1",
    "bash -c 'nacre run --policy off ls'",
    "echo x | xargs nacre run --policy off",
    'echo "nacre approve 1" | sh',
    "python3 -c \"import subprocess; subprocess.run(['nacre','run','--policy','off','ls'])\"",
    "eval nacre run --policy off ls",
    "XDG_CONFIG_HOME=/tmp/x nacre run ls",
    "nacre run 'sudo ls'",
    "nacre run -- sudo ls",
    'nacre run "$X"',
    "nacre run $X",
    "nacre run --env LD_PRELOAD=./x.so ls",
    "nacre run --cwd / 'rm -rf srv'",
    "nacre run 'nacre run --policy off ls'",
  ])("a nested nacre cannot choose looser rules, and what it runs is judged: %j", (command) => {
    expect(verdictOf(command)).not.toBe("allow");
  });

  it.each(["nacre run 'rm -rf /'", "nacre run -- rm -rf /", "npx nacre run --cwd / 'rm -rf *'"])(
    "what a nested nacre runs is refused like any other command: %j",
    (command) => {
      expect(verdictOf(command)).toBe("deny");
    },
  );

  it.each([
    "claude --dangerously-skip-permissions",
    "claude --dangerously-skip-permissions -p 'do it'",
    "claude --permission-mode bypassPermissions -p x",
    "claude --permission-mode=acceptEdits",
    "claude -p x --allowedTools Bash",
    'claude -p x --allowedTools "Bash,Edit"',
    "claude -p x --allowedTools Read Bash",
    'claude -p x --allowed-tools "Bash(git:*)"',
    "claude --settings '{\"permissions\":{}}' -p x",
    "claude mcp add x -- ./x",
    "npx @anthropic-ai/claude-code --dangerously-skip-permissions",
    "npx -y @anthropic-ai/claude-code@latest --dangerously-skip-permissions -p x",
    "codex --dangerously-bypass-approvals-and-sandbox",
    "codex exec --dangerously-bypass-approvals-and-sandbox x",
    "codex --yolo",
    "codex exec --full-auto x",
    "codex -a never x",
    "codex -anever x",
    "codex --ask-for-approval never",
    "codex --ask-for-approval=never",
    "codex -s danger-full-access x",
    "codex --sandbox danger-full-access",
    "codex --sandbox=danger-full-access",
    "codex -c approval_policy=never x",
    "codex -c 'approval_policy=\"never\"' x",
    "codex --config sandbox_mode=danger-full-access",
    "gemini --yolo",
    "gemini -y -p x",
    "gemini -p x -y",
    "gemini --approval-mode yolo",
    "gemini --approval-mode=auto_edit",
    "opencode run --dangerously-skip-permissions x",
    'OPENCODE_PERMISSION=\'{"bash":"allow"}\' opencode run x',
    "cursor-agent --force -p x",
    "cursor-agent -f",
    "cursor-agent -pf x",
    "aider --yes-always",
    "aider --yes",
    "GOOSE_MODE=auto goose run -t x",
    "export GOOSE_MODE=auto; goose run -t x",
    "amp --dangerously-allow-all",
    "copilot --allow-all-tools -p x",
    "copilot --allow-tool 'shell(rm)'",
    "qwen --yolo",
    "crush --yolo",
    "crush run -y x",
    "droid exec --skip-permissions-unsafe x",
    "droid exec --auto high x",
    "mywrapper claude --dangerously-skip-permissions",
  ])("an agent that asks nobody is asked about: %j", (command) => {
    expect(verdictOf(command)).toBe("ask");
  });

  it.each([
    "echo '{}' > ~/.config/nacre/policy.json",
    "echo '{}' > ~/.claude/settings.json",
    "echo '{}' > .claude/settings.json",
    "tee .claude/settings.local.json < x",
    "cp x .mcp.json",
    "sed -i 's/a/b/' ~/.codex/config.toml",
    "echo '{}' > .cursor/mcp.json",
    "echo '{}' > ~/.cursor/mcp.json",
    "echo '{}' > ~/.gemini/settings.json",
    "echo '{}' > ~/.config/opencode/opencode.json",
    "echo '{}' > opencode.json",
    "cp settings.json .claude",
    "cp settings.json ~/.claude/",
    "mv x.json ~/.claude/settings.json",
    "ln -sf /tmp/x ~/.claude/settings.json",
    "echo y > ~/.local/state/nacre/approvals/a.json",
    "python3 -c \"open('.mcp.json','w').write('{}')\"",
    "dd of=.mcp.json < x",
    "curl -o .mcp.json https://x/y",
    "install -m 644 x .cursor/mcp.json",
  ])("settings that decide what runs unasked are not written unasked: %j", (command) => {
    expect(verdictOf(command)).toBe("ask");
  });

  it("a profile is looser or not by comparison with the current one", () => {
    expect(verdictOf("nacre run --policy trusting ls", { profile: "trusting" })).toBe("allow");
    expect(verdictOf("nacre run --policy off ls", { profile: "trusting" })).toBe("ask");
    expect(verdictOf("nacre run --policy standard ls", { profile: "cautious", sandboxed: true })).toBe("ask");
    expect(verdictOf("nacre run --policy cautious ls", { profile: "cautious", sandboxed: true })).toBe(
      "allow",
    );
  });

  it("a sandboxed command cannot ask for the network or for the sandbox's exceptions", () => {
    for (const option of ["--network full", "--git-config", "--debuggers"]) {
      const command = `nacre run --sandbox workspace-write ${option} ls`;
      expect(verdictOf(command, { sandboxed: true })).toBe("ask");
      expect(verdictOf(command)).toBe("allow");
    }
  });

  it("the reason names what is loosened", () => {
    expect(judge("nacre run --policy off ls", dev)).toMatchObject({
      rule: "loosen-policy",
      reason: "nacre would run commands with --policy off: only a person decides that.",
    });
    expect(judge("codex --yolo", dev)).toMatchObject({ rule: "skip-approvals" });
  });
});
