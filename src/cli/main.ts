#!/usr/bin/env node
// The `nacre` program. All it does is hand this process to runCli.
import { runCli } from "./cli.ts";

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
});
