import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renumberLines } from "../../src/execution/bash-result.ts";
import { SavedStates } from "../../src/session/saved-states.ts";
import { inheritanceScript, restoreScript } from "../../src/session/session-restore.ts";
import { stateFile } from "../../src/session/state-files.ts";
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

test("declarations are split correctly even if their values contain newlines, quotes or declarations", () => {
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

test("the newest complete state is used, but never the state after another command", () => {
  const dir = directory();
  const states = new SavedStates(dir, NONCE, undefined);
  const add = (number: number) => {
    const file = states.nextFile;
    states.add(number, file);
    return stateFile(dir, file);
  };
  const third = add(3);
  expect(states.newest(4)).toBeUndefined();
  writeFileSync(third, stateAfter(3));
  states.take(3, undefined, 1);
  const fourth = add(4);
  expect(fourth).not.toBe(third);
  expect(states.newest(4)).toEqual({ state: stateAfter(3), number: 3 });
  writeFileSync(fourth, stateAfter(4).slice(0, -1));
  expect(states.newest(4)).toEqual({ state: stateAfter(3), number: 3 });
  writeFileSync(fourth, stateAfter(2));
  expect(states.newest(4)).toEqual({ state: stateAfter(3), number: 3 });
  // Text after the end mark belongs to an earlier, longer state.
  writeFileSync(fourth, `${stateAfter(4)}AR="1"\n#nacre ${NONCE} end 2\n`);
  expect(states.newest(4)).toEqual({ state: stateAfter(4), number: 4 });
  expect(states.newest(3)).toEqual({ state: stateAfter(3), number: 3 });
  expect(new SavedStates(dir, "other", undefined).newest(4)).toBeUndefined();
});

test("a failed save keeps the last complete state", () => {
  const dir = directory();
  const states = new SavedStates(dir, NONCE, undefined);
  for (const number of [1, 2, 3, 4, 5]) {
    const file = states.nextFile;
    states.add(number, file);
    writeFileSync(stateFile(dir, file), number > 1 ? "half" : stateAfter(1));
    states.take(number, number > 1 ? "No space left on device" : undefined, 1);
    expect(states.newest(number)).toEqual({ state: stateAfter(1), number: 1 });
  }
  expect(states.takeProblem()).toBe("No space left on device");
  expect(states.takeProblem()).toBeUndefined();
});

test("the state of a saver that ended without a report is kept until a newer state is complete", async () => {
  const dir = directory();
  const states = new SavedStates(dir, NONCE, undefined);
  const file = states.nextFile;
  states.add(1, file, true);
  const saver = spawn("sleep", ["60"]);
  await once(saver, "spawn");
  states.forked(1, saver.pid);
  writeFileSync(stateFile(dir, file), stateAfter(1));
  saver.kill("SIGKILL");
  await once(saver, "exit");
  const next = states.nextFile;
  expect(next).not.toBe(file);
  states.add(2, next);
  // bash crashes before it has written this state.
  await states.finish(2);
  expect(states.newest(2)).toEqual({ state: stateAfter(1), number: 1 });
});

test("the restore script contains everything except options that would end bash", () => {
  const script = restoreScript(stateAfter(1), NONCE, ["PATH", "HOME"]);
  expect(script).toContain("unset -v PATH\n");
  expect(script).toContain("unset -v HOME\n");
  expect(script).toContain("shopt -s checkwinsize extglob\n");
  expect(script).toContain("set -o noglob\n");
  expect(script).toContain("set +o hashall\n");
  expect(script).not.toContain("errexit");
  expect(script.indexOf("echo f")).toBeLessThan(script.indexOf("alias ll"));
});

test("a background shell inherits only exports and functions", () => {
  const script = inheritanceScript(stateAfter(1), NONCE, ["PATH"], { OWN: "it's ä" });
  expect(script).toContain('declare -- SHOWN="a\nb"');
  expect(script).toContain("declare -fx f");
  expect(script).toContain(Buffer.from("export OWN='it'\\''s ä'").toString("latin1"));
  expect(script).not.toContain("plain");
  expect(script).not.toContain("alias ll");
});

test("line numbers start at the first line of the command", () => {
  const stderr =
    "bash: line 12: a: command not found\nbash: eval: line 13: oops\nbash: line 3: f: old\nline 12: x\n";
  expect(renumberLines(stderr, 12)).toBe(
    "bash: line 1: a: command not found\nbash: eval: line 2: oops\nbash: line 3: f: old\nline 12: x\n",
  );
});
