import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renumberLines } from "../../src/execution/bash-result.ts";
import { inheritanceScript, restoreScript } from "../../src/session/session-restore.ts";
import { readState, stateFile } from "../../src/session/state-files.ts";
import { piecesOf } from "../../src/session/state-pieces.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const NONCE = "abc123";

function stateAfter(number: number, mark = ""): string {
  return [
    `#nacre ${NONCE} options\ncheckwinsize:extglob\nbraceexpand:errexit:noglob\n`,
    `#nacre ${NONCE} functions\ndeclare -fx f\n#nacre ${NONCE} bodies\nf () \n{ \n    echo f\n}\n`,
    `#nacre ${NONCE} variables\ndeclare -- plain="1"\ndeclare -x SHOWN="a\nb"\ndeclare -ax list=([0]="x")\n${mark}`,
    `#nacre ${NONCE} rest\nalias ll='ls'\numask 0027\ntrap -- 'x' SIGINT\n`,
    `#nacre ${NONCE} end ${number}\n`,
  ].join("");
}

test("declarations are split correctly, whatever their values contain", () => {
  const printed = [
    'declare -- a="1"\n',
    'declare -x b="two\ndeclare -x fake=\\"x\\"\n"\n',
    "declare -r c=$'it\\'s\\n'\n",
    'declare -a d=([0]="a b" [1]="\\"\n")\n',
    "declare -x e\n",
    'declare -A f=(["k l"]="v" )\n',
    "alias g='ends with \\'\n",
    'trap -- "x\n" SIGINT\n',
  ];
  expect(piecesOf(printed.join(""))).toEqual(printed);
});

test("the newest whole state counts, never one of another command", () => {
  const dir = directory();
  expect(readState(dir, 4, NONCE)).toBeUndefined();
  writeFileSync(stateFile(dir, 3), stateAfter(3));
  expect(readState(dir, 4, NONCE)).toBe(stateAfter(3));
  writeFileSync(stateFile(dir, 4), stateAfter(4).slice(0, -1));
  expect(readState(dir, 4, NONCE)).toBe(stateAfter(3));
  writeFileSync(stateFile(dir, 4), stateAfter(2));
  expect(readState(dir, 4, NONCE)).toBe(stateAfter(3));
  // What is behind its end is of an earlier, longer one.
  writeFileSync(stateFile(dir, 4), `${stateAfter(4)}AR="1"\n#nacre ${NONCE} end 2\n`);
  expect(readState(dir, 4, NONCE)).toBe(stateAfter(4));
  expect(readState(dir, 4, "other")).toBeUndefined();
  expect(stateFile(dir, 4)).not.toBe(join(dir, "state.1"));
});

test("a restored bash has everything but the options that would end it", () => {
  const script = restoreScript(stateAfter(1), NONCE, ["PATH", "HOME"]);
  expect(script).toContain("unset -v PATH\n");
  expect(script).toContain("unset -v HOME\n");
  expect(script).toContain("shopt -s checkwinsize extglob\n");
  expect(script).toContain("set -o noglob\n");
  expect(script).toContain("set +o hashall\n");
  expect(script).not.toContain("errexit");
  expect(script.indexOf("echo f")).toBeLessThan(script.indexOf("alias ll"));
});

test("a background shell inherits exports and functions only", () => {
  const script = inheritanceScript(stateAfter(1), NONCE, ["PATH"], { OWN: "it's ä" });
  expect(script).toContain('declare -- SHOWN="a\nb"');
  expect(script).toContain("declare -fx f");
  expect(script).toContain(Buffer.from("export OWN='it'\\''s ä'").toString("latin1"));
  expect(script).not.toContain("plain");
  expect(script).not.toContain("alias ll");
});

test("lines are counted from the first line of the command", () => {
  const stderr =
    "bash: line 12: a: command not found\nbash: eval: line 13: oops\nbash: line 3: f: old\nline 12: x\n";
  expect(renumberLines(stderr, 12)).toBe(
    "bash: line 1: a: command not found\nbash: eval: line 2: oops\nbash: line 3: f: old\nline 12: x\n",
  );
});
