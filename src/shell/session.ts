// A session: one bash after another that together look like one which never ends. Commands run in it one at
// a time, at top level, with the state of those before; whatever ends a bash, the next one goes on.
import { randomBytes } from "node:crypto";
import { realpathSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildEnvironment } from "../environment/environment.ts";
import { lastPid } from "../hosts/process-table.ts";
import type { ReportFifo } from "../hosts/report-fifo.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { checkCommand, checkSettable } from "./check-start.ts";
import { leftoversOf } from "./command-processes.ts";
import { endShells, type KillReport } from "./kill.ts";
import { codeOf, fromCode, type Outcome } from "./outcome.ts";
import type { SessionBash } from "./session-bash.ts";
import { bearBash } from "./session-birth.ts";
import { type CommandEnding, SessionCommand } from "./session-command.ts";
import { commandMessage } from "./session-harness.ts";
import type { RunOptions, SessionHouse, SessionOptions, SessionResult } from "./session-options.ts";
import { SessionQueue } from "./session-queue.ts";
import { ReportReader } from "./session-reports.ts";
import { nearestDirectory, stateFile, wholeState, writeInheritance } from "./session-state.ts";
import type { ShellProcess } from "./shell-process.ts";
import { checkWorkingDir } from "./working-dir.ts";
