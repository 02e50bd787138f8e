import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding a command in a nested shell", () => {
  it.each([
    "sh -c 'rm -rf /'",
    "bash -lc 'cd /; rm -rf /'",
    "bash -o pipefail -c 'rm -rf /'",
    "eval 'rm -rf /'",
    "source <(echo 'rm -rf /')",
    ". /dev/stdin <<< 'rm -rf /'",
    "bash <<E\nrm -rf /\nE",
    "bash <<< 'rm -rf /'",
    "echo 'rm -rf /' | sh",
    "trap 'rm -rf /' EXIT",
    "alias ls='rm -rf /'; ls",
    "f() { rm -rf /; }; f",
    "PROMPT_COMMAND='rm -rf /' bash -i",
    "echo 'rm -rf /' > x.sh; bash x.sh",
    "bash /dev/fd/3 3<<'E'\nrm -rf /\nE",
    "sh /proc/self/fd/4 4<<< 'rm -rf /'",
    "exec {fd}<<< 'rm -rf /'; bash /dev/fd/$fd",
    "tmux send-keys -t 0 'rm -rf /' Enter",
    "screen -S x -X stuff $'rm -rf /\\n'",
    "bind -x '\"x\": rm -rf /'",
    "at now <<< 'rm -rf /'",
    "watch 'rm -rf /'",
  ])("a dangerous command in a nested shell is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each([
    "bash -c 'npm test'",
    "trap 'rm -f \"$tmp\"' EXIT",
    "alias ll='ls -l'",
    "cat /dev/fd/3 3<<< 'rm -rf /'",
    "tmux send-keys -t dev 'npm test' Enter",
    "bind '\"\\e[A\": history-search-backward'",
    "cat <<E | grep rm\nrm -rf /\nE",
  ])("harmless commands of the same form are allowed: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });
});
