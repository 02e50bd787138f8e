// nacre reads extended attributes from the headers that GNU tar writes.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attributesOf } from "../../src/preview/extended-attributes.ts";
import { PaxReader } from "../../src/preview/pax-reader.ts";

const SETXATTR = { x64: 188, arm64: 5 }[process.arch as string];

/** Gives a file 300 attributes of 64 KiB each: about 19 MB. */
const MARK = `my ($file, $value) = ($ARGV[0], "x" x 65536);
for my $i (1..300) { my $name = "user.a$i"; syscall(${SETXATTR}, $file, $name, $value, 65536, 0) == 0 or exit 1 }`;

function headersOf(directory: string, name: string): Buffer {
  const script = 'tar --create --file=- --format=posix --directory="$0" "$1" | head -c 1536';
  return execFileSync("bash", ["-c", script, directory, name]);
}

test("attributes that exceed the limit cause an error, not a crash of the host", async ({ skip }) => {
  // Use a tmpfs: other file systems may not accept so many attributes.
  const directory = mkdtempSync("/dev/shm/nacre-test-");
  try {
    writeFileSync(join(directory, "f"), "");
    try {
      execFileSync("perl", ["-e", MARK, join(directory, "f")]);
    } catch {
      skip("/dev/shm does not accept user attributes");
    }
    await expect(attributesOf(directory, ["f"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(
        /cannot read the attributes of files.*header of a tar entry has \d+ bytes/,
      ),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("the content of a file of 9 GiB is skipped", () => {
  const directory = mkdtempSync("/var/tmp/nacre-test-");
  try {
    for (const [name, size] of [
      ["large", "9G"],
      ["small", "10"],
    ] as const)
      execFileSync("truncate", ["-s", size, join(directory, name)]);
    const reader = new PaxReader();
    reader.push(headersOf(directory, "large"));
    const content = Buffer.alloc(64 * 1024 ** 2);
    for (let count = 0; count < 9 * 16; count++) reader.push(content);
    reader.push(headersOf(directory, "small"));
    expect(reader.entries).toHaveLength(2);
    expect(reader.entries[0]?.get("size")).toBe(String(9 * 1024 ** 3));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
