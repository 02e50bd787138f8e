import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("hiding a command in variables", () => {
  it.each([
    "X=rm; $X -rf /",
    "D=/; rm -rf $D",
    `rm -rf \${U:-/}`,
    'T=; rm -rf "$T/"',
    'for d in /; do rm -rf "$d"; done',
    'set -- rm -rf /; "$@"',
    `x=(/ /home); rm -rf "\${x[@]}"`,
    "read -r p <<< /; rm -rf $p",
    "d=$(echo /); rm -rf $d",
    `p=/tmp; rm -rf "\${p%tmp}"`,
  ])("a dangerous command in variables with known values is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(['D=build; rm -rf "$D"', 'T=$(mktemp -d) && rm -rf "$T"', 'for d in a b; do rm -rf "$d"; done'])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );

  it.each([
    [`tar czf "\${OUT:-/etc/x.tgz}" dir`, "deny"],
    [`curl -o "\${O:-/etc/x}" https://a`, "deny"],
    [`gcc -o "\${O:-/etc/passwd}" x.c`, "deny"],
    [`cp -t "\${D:-/etc}" passwd`, "deny"],
    [`install -t "\${D:-/etc}" passwd`, "deny"],
    [`unzip a.zip -d "\${D:-/etc}"`, "ask"],
    [`tar xf "\${F:-a.tar}" -C "\${D:-/}"`, "ask"],
    [`chmod "\${MODE:-4755}" file`, "ask"],
    [`docker run -v "\${V:-/:/host}" alpine`, "ask"],
    [`env -C "\${D:-/}" rm -rf etc`, "ask"],
    [`eval "\${S:-rm -rf /}"`, "deny"],
    [`bash -c "\${S:-rm -rf /}"`, "deny"],
    [`trap "\${T:-rm -rf /}" EXIT`, "deny"],
    [`git -C "\${D:-/etc}" clean -fdx`, "deny"],
    [`bash "\${S:-x.sh}"`, "allow"],
    [`npx "\${P:-serve}"`, "allow"],
    [`python3 -c "\${S:-print(1)}"`, "allow"],
  ])(
    "the default of a variable whose value is unknown counts: %j gets the verdict %s",
    (command, verdict) => {
      expect(verdictOf(command)).toBe(verdict);
    },
  );

  it.each([
    [`cp x "\${D:-/etc}/passwd"`, "deny"],
    [`mv x "\${D:-/etc}/passwd"`, "deny"],
    [`install x "\${D:-/etc}/passwd"`, "deny"],
    [`ln -sf x "\${D:-/etc}/passwd"`, "deny"],
    [`bash -c 'cp x "\${D:-/etc}/passwd"'`, "deny"],
    [`rsync -a x "\${D:-/etc}/passwd"`, "deny"],
    [`scp x "\${D:-/etc}/passwd"`, "deny"],
    ["if a; then D=/etc; else D=x; fi; cp f $D/passwd", "deny"],
    ["if a; then P=x; else P='a /etc/passwd'; fi; cp $P", "deny"],
    [`cp "\${F:-/etc/hosts}" .`, "allow"],
    [`cp "\${F:-/etc/hosts}" x`, "allow"],
    [`mv "\${F:-a}" "\${G:-b}"`, "allow"],
    ["for f in /etc/hosts /etc/passwd; do cp $f .; done", "allow"],
    ["cp src/a.ts{,.bak}", "allow"],
    ["bash -c 'cp /etc/passwd x'", "allow"],
  ])(
    "every value of the last word can be the target of a copy: %j gets the verdict %s",
    (command, verdict) => {
      expect(verdictOf(command)).toBe(verdict);
    },
  );
});
