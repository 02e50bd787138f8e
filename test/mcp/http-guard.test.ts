// The addresses at which the HTTP server may listen, and the requests that its guard admits.
import { describe, expect, test } from "vitest";
import { readHttpAddress } from "../../src/mcp/http-address.ts";
import { HttpGuard, readTokens, tokenDigest } from "../../src/mcp/http-guard.ts";
import { TOKENS } from "./mcp-clients.ts";

describe("the address", () => {
  test.each([
    ["8080", { host: "127.0.0.1", port: 8080 }],
    ["0", { host: "127.0.0.1", port: 0 }],
    ["localhost:8080", { host: "127.0.0.1", port: 8080 }],
    ["127.0.0.1:8080", { host: "127.0.0.1", port: 8080 }],
    ["[::1]:8080", { host: "::1", port: 8080 }],
  ])("%s is on this machine", (text, address) => expect(readHttpAddress(text)).toEqual(address));

  test.each([
    "0.0.0.0:8080",
    "[::]:8080",
    ":8080",
    "example.com:80",
    "192.168.1.2:8080",
    "127.0.0.1.evil:80",
  ])("%s is refused with a remedy", (text) =>
    expect(() => readHttpAddress(text)).toThrow(/this machine only.*ssh -L/),
  );

  test.each(["", "http", "65536", "80:", "-1", "8080x"])("%j is not a port", (text) =>
    expect(() => readHttpAddress(text)).toThrow("a port from 0"),
  );
});

describe("the guard", () => {
  const guard = new HttpGuard([...TOKENS]);
  const headers = { host: "127.0.0.1:8080", authorization: `Bearer ${TOKENS[1]}` };
  const url = "/mcp";

  test("accepts a request with a known token", () => {
    expect(guard.admit({ headers, url })).toEqual({ token: TOKENS[1] });
    expect(guard.admit({ headers: { ...headers, origin: "http://localhost:3000" }, url })).toEqual({
      token: TOKENS[1],
    });
  });

  test.each([
    [{ host: "127.0.0.1" }, 401, "A token is required"],
    [{ ...headers, authorization: `Bearer ${TOKENS[1]}x` }, 401, "does not know this token"],
    [{ ...headers, authorization: `Basic ${TOKENS[1]}` }, 401, "A token is required"],
    [{ ...headers, host: "evil.example:8080" }, 403, "Host"],
    [{ authorization: headers.authorization }, 403, "Host"],
    [{ ...headers, origin: "https://evil.example" }, 403, "Origin"],
    [{ ...headers, origin: "null" }, 403, "Origin"],
  ])("refuses %j with status %i", (given, status, words) => {
    expect(guard.admit({ headers: given, url })).toMatchObject({
      status,
      message: expect.stringContaining(words),
    });
  });

  test.each(["localhost", "LocalHost:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:8080"])(
    "admits the host %s",
    (host) => expect(guard.admit({ headers: { ...headers, host }, url })).toEqual({ token: TOKENS[1] }),
  );

  test.each([
    "user@127.0.0.1:8080",
    "user:password@localhost",
    "@localhost",
    "evil.example@localhost",
    "localhost@evil.example",
    "localhost.",
    "localhost.:8080",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.2",
    "0.0.0.0",
    "::1",
    "::1:8080",
    "[::1",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::1%25lo]",
    "localhost:",
    "localhost:http",
    "localhost:65536",
    "localhost:-1",
    "localhost:+80",
    "localhost: 80",
    "localhost:80:80",
    "localhost/",
    "localhost/mcp",
    "localhost?x",
    "localhost#x",
    "localhost\\evil.example",
    "localhost, evil.example",
    "evil.example, localhost",
    "localhost evil.example",
    " localhost",
    "localhost\t",
    "http://localhost",
    "localhost.evil.example",
    "evil-localhost",
    "ⓛocalhost",
    "loc%61lhost",
    "",
  ])("refuses the host %j", (host) => {
    expect(guard.admit({ headers: { ...headers, host }, url })).toMatchObject({
      status: 403,
      message: expect.stringContaining("Host"),
    });
  });

  test.each([
    "http://user@localhost",
    "http://localhost/",
    "http://localhost.",
    "http://localhost, http://evil.example",
    "file://localhost",
    "localhost",
    "http://",
  ])("refuses the origin %j", (origin) => {
    expect(guard.admit({ headers: { ...headers, origin }, url })).toMatchObject({
      status: 403,
      message: expect.stringContaining("Origin"),
    });
  });

  test("truncates a long host in its message", () => {
    const refused = guard.admit({ headers: { ...headers, host: `${"x".repeat(5_000)}"` }, url });
    expect(Object(refused).message.length).toBeLessThan(300);
  });

  test("admits only the path /mcp", () => {
    expect(guard.admit({ headers, url: "/" })).toMatchObject({ status: 404 });
    expect(guard.admit({ headers, url: "/mcp?x=1" })).toHaveProperty("token");
  });

  test("without tokens, accepts every request that names this machine", () => {
    const open = new HttpGuard([]);
    expect(open.admit({ headers: { host: "localhost" }, url })).toEqual({ token: "" });
    expect(open.admit({ headers: { host: "evil.example" }, url })).toMatchObject({ status: 403 });
  });

  test("tokens are read from the environment, or generated", () => {
    expect(readTokens(`${TOKENS.join(",")} `)).toEqual([...TOKENS]);
    expect(() => readTokens("short")).toThrow("16 characters");
    const [made = ""] = readTokens(undefined);
    expect(made.length).toBeGreaterThan(30);
    expect(readTokens("")).not.toEqual([made]);
    expect(tokenDigest(made)).not.toContain(made);
  });
});
