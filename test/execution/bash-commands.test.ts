import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

test("output is exact, including white space", async () => {
  const { bash } = tools();
  const exact = {
    "echo ''": "\n",
    "printf '\\n\\nx\\n\\n\\n'": "\n\nx\n\n\n",
    "printf '  x'": "  x",
    true: "",
    "printf 'no newline'; echo err >&2": "no newline\n[stderr]\nerr\n",
    "printf err >&2": "[stderr]\nerr",
  };
  for (const [command, output] of Object.entries(exact)) expect((await bash(command)).output).toBe(output);
});

test("chains, pipelines, here-documents, loops and functions run as in bash", async () => {
  const { bash } = tools();
  const script = `#!/usr/bin/env bash
set -u
greet() {
  local name=$1
  echo "hello $name"
}
cat <<'RAW' | tr a-z A-Z
raw $HOME text
RAW
for name in a "b c"; do greet "$name"; done && greet last || echo never
echo one; echo two | sed 's/two/2/'
cat <<-EOF_TABS
\tindented $((1 + 2))
\tEOF_TABS
[[ abc =~ ^a(.)c$ ]] && echo "\${BASH_REMATCH[1]}"
`;
  expect((await bash(script)).output).toBe(
    "RAW $HOME TEXT\nhello a\nhello b c\nhello last\none\n2\nindented 3\nb\n",
  );
});

test("a command of 1 MiB runs completely", async () => {
  const { bash, call } = tools();
  const command = `cat > copy <<'END'\n${"0123456789abcde\n".repeat(65_536)}END\nwc -c < copy`;
  expect(command.length).toBeGreaterThan(1024 ** 2);
  expect((await bash(command)).output).toBe("1048576\n");
  expect((await call("bash", { command })).output).toBe("1048576\n");
});

test("a large command that fails returns quickly: nacre does not search long for paths with spaces", async () => {
  const command = `${": a.b c/d e.f\n".repeat(20_000)}false`;
  const started = performance.now();
  const { metadata } = await tools({ policy: "off" }).bash(command);
  expect(metadata["exit_code"]).toBe(1);
  expect(performance.now() - started).toBeLessThan(100_000);
});

test("a command has an empty stdin and no terminal, so it cannot wait for input", async () => {
  const { bash } = tools();
  const result = await bash(
    "echo test | cat; cat; read -r x; echo read $?; [[ -p /dev/stdin ]] || echo no pipe; cat < /dev/tty",
  );
  expect(result.output).toMatch(
    /^test\nread 1\nno pipe\n\[stderr\]\n.*\/dev\/tty: No such device or address\n$/,
  );
  expect(result.metadata["exit_code"]).toBe(1);
});

test("git does not open an editor or prompt", async () => {
  const { bash } = tools();
  const result = await bash(
    "git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty -q -m one && git rebase --continue",
  );
  expect(result.metadata["exit_code"]).toBe(128);
  expect(result.output).toContain("No rebase in progress");
});

describe("a path with unquoted spaces", () => {
  test("gets a note if it exists and the command fails", async () => {
    const { bash, dir } = tools();
    writeFileSync(join(dir, "my long file.txt"), "content\n");
    const hint = '"my long file.txt" exists: quote paths that contain spaces.';
    for (const command of [
      "cat my long file.txt",
      "ls -la my long file.txt; false",
      'echo "a b" && cat my long file.txt | wc -l && exit 1',
    ]) {
      expect((await bash(command)).notes).toContain(hint);
    }
    const whole = join(dir, "my long file.txt");
    expect((await bash(`cat ${whole}`)).notes).toContain(
      `"${whole}" exists: quote paths that contain spaces.`,
    );
  });

  test("gets no note if it was quoted, does not exist, or the command succeeds", async () => {
    const { bash, dir } = tools();
    writeFileSync(join(dir, "my file.txt"), "content\n");
    await bash("true");
    for (const command of [
      "cat 'my file.txt' && false",
      "cat my\\ file.txt && false",
      'cat "my file.txt" && false',
      "cat my other.txt",
      "echo my file.txt",
      "echo my; file.txt",
    ]) {
      expect([command, (await bash(command)).notes]).toEqual([command, []]);
    }
  });
});

test("the output file of a truncated result contains every line", async () => {
  const result = await tools().bash("seq 1 20000");
  const file = String(result.metadata["output_file"]);
  expect(readFileSync(file, "utf8")).toBe(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(""));
});
