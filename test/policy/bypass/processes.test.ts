import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("killing every process", () => {
  it.each([
    "kill -9 -1",
    "kill -9 1",
    "for i in {1..65535}; do kill -9 $i; done",
    "for ((i=1; i<65536; i++)); do kill -9 $i; done",
    "i=2; while [ $i -lt 65536 ]; do kill -9 $i; i=$((i+1)); done",
    "for p in $(ps -eo pid=); do kill -9 $p; done",
    "pgrep . | xargs kill -9",
    "kill -9 $((0-1))",
    "kill -s 9 -- -1",
    "killall5 -9",
    "pkill -9 .",
    "shutdown now",
    "systemctl poweroff",
    "init 0",
    "echo b > /proc/sysrq-trigger",
  ])("killing every process or stopping the machine is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each([
    "kill %1",
    "kill 1234",
    "pkill -f 'vite --port 5173'",
    "shutdown --help",
    "for i in {1..30}; do kill -0 $pid || break; done",
    "for p in $(pgrep -f vite); do kill $p; done",
    "n=0; while [ $n -lt 3600 ]; do n=$((n+1)); kill -0 4321 || break; done",
  ])("harmless commands of the same form are allowed: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });
});
