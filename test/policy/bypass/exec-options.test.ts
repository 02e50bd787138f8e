import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("running a command through an option of another program", () => {
  it.each([
    "tar -xf a.tar --to-command='rm -rf /'",
    "tar cf a b --checkpoint-action=exec='rm -rf /'",
    "git -c core.pager='rm -rf /' log",
    "git -c alias.x='!rm -rf /' x",
    "GIT_SSH_COMMAND='rm -rf /' git fetch",
    "rg --pre 'rm -rf /' x",
    "sort --compress-program='rm -rf /' f",
    "man -P 'rm -rf /' ls",
    "ssh -o ProxyCommand='rm -rf /' host",
    "go test -exec 'rm -rf /'",
    "make -f - <<'E'\na:\n\trm -rf /\nE",
    "crontab - <<< '* * * * * rm -rf /'",
    "echo 'rm -rf /' | at now",
  ])("a dangerous command that another program would run is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each([
    "tar -xzf a.tgz",
    "git log",
    "tar -I zstd -cf a.tar.zst b",
    "ssh -o StrictHostKeyChecking=no host ls",
  ])("harmless commands of the same form are allowed: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });
});
