import { homedir } from "node:os";
import { expect, test } from "vitest";
import { homeDirectory } from "../../src/support/home-directory.ts";

test("the home directory is that of the user, or / if the user is unknown", () => {
  expect(homeDirectory()).toBe(homedir());
  const unknown = () => {
    throw new Error("A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)");
  };
  expect(homeDirectory(unknown)).toBe("/");
});
