import { afterEach, describe, expect, test, vi } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

afterEach(() => {
  vi.unstubAllEnvs();
});

/**
 * Runs a command, and aborts it when a progress message contains `word`. Returns all progress messages with
 * their times.
 */
async function follow(kit: ReturnType<typeof tools>, command: string, word: string) {
  const reported: { message: string; at: number }[] = [];
  const controller = new AbortController();
  const onProgress = ({ message }: { message: string }) => {
    reported.push({ message, at: performance.now() });
    if (message.includes(word)) controller.abort();
  };
  const result = await kit.bash(command, {}, { onProgress, signal: controller.signal });
  return { reported, result };
}

describe("progress", () => {
  test("reports the last new lines, at most four times a second", async () => {
    const { reported, result } = await follow(
      tools(),
      "for i in {1..300}; do echo line $i; (( i % 3 )) || sleep 0.01; done; echo the end; sleep 60",
      "the end",
    );
    expect(result.code).toBe("aborted");
    expect(reported.at(-1)?.message).toBe("line 297\nline 298\nline 299\nline 300\nthe end");
    const seconds = ((reported.at(-1)?.at ?? 0) - (reported[0]?.at ?? 0)) / 1000;
    expect(reported.length - 1).toBeLessThanOrEqual(Math.ceil(seconds * 4));
  });

  test("includes stderr, and reports nothing while the command prints nothing", async () => {
    const { reported } = await follow(tools(), "echo oops >&2; sleep 0.6; echo over; sleep 60", "over");
    expect(reported.map(({ message }) => message)).toEqual(["oops", "over"]);
  });

  test("shows the text that a model gets, without colors and secrets, even if a line is cut", async () => {
    vi.stubEnv("NACRE_TEST_API_KEY", "hush-hush-4711-abcdef");
    const { reported } = await follow(
      tools(),
      // `cat` prints the prepared file in one write, so no progress message contains only half of the text.
      `{ printf 'x%.0s' {1..3000}; printf 'hush-hush-4711-abcdef'; printf 'y%.0s' {1..40950}; printf '\\n\\e[31mready\\e[0m hush-hush-4711-abcdef\\n'; } >text; cat text; sleep 60`,
      "ready",
    );
    expect(reported.map(({ message }) => message)).toEqual(["ready [redacted:NACRE_TEST_API_KEY]"]);
  });

  test("redacts a private key that is longer than one progress message", async () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(200)}`;
    const { reported } = await follow(
      tools(),
      // `cat` prints the prepared file in one write, so no progress message contains only half of the text.
      `printf %s '${key}' >key; { cat key; echo -----END PRIVATE KEY-----; echo ready; } >text; cat text; sleep 60`,
      "ready",
    );
    expect(reported.map(({ message }) => message)).toEqual(["[redacted:private-key]\nready"]);
  });

  test("does not stop the command if its listener throws, and adds a note to the result", async () => {
    const onProgress = () => {
      throw new Error("no thanks");
    };
    const result = await tools().bash("echo one; sleep 0.5; echo two", {}, { onProgress });
    expect(result).toMatchObject({ success: true, output: "one\ntwo\n" });
    expect(result.notes).toContain("The progress listener failed: no thanks");
  });
});
