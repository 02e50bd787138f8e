// Every number that bounds something, with its unit in its name. Nothing else holds a limit.

/** tool/: how many calls an executor remembers. */
export const EXECUTION_HISTORY_MAX_COUNT = 1_000;

/** tool/: how much of one call's arguments its record keeps, over all strings together. */
export const EXECUTION_ARGUMENTS_MAX_CHARS = 4_096;

/** tool/: how many values (parameters, items, nested ones) of one call's arguments its record keeps. */
export const EXECUTION_ARGUMENTS_MAX_VALUES = 100;

/** tool/: after an abort, how long a tool may take to come back with its own, partial result. */
export const ABORT_GRACE_MS = 10_000;

/** tool/: how long a call waits for one hook. */
export const HOOK_MAX_MS = 5_000;

/** tool/: how much of an offending value a message repeats. */
export const EXCERPT_MAX_CHARS = 80;

/** tool/: how many problems, names or choices one message lists. */
export const MESSAGE_LIST_MAX_COUNT = 20;

/** text/: characters of output one result of the `shells` dialect may carry. */
export const OUTPUT_MAX_CHARS = 30_000;

/** text/: bytes of output one result of the `modes` dialect may carry before its middle is snipped. */
export const SNIP_OVER_BYTES = 128 * 1024;

/** text/: bytes kept at each end when the `modes` dialect snips. */
export const SNIP_KEEP_BYTES = 4 * 1024;

/** text/: how far a cut may move to spare a combining sequence. */
export const GRAPHEME_SEARCH_MAX_CHARS = 32;

/** text/: how much of an output is looked at to tell binary from text. */
export const BINARY_SAMPLE_MAX_BYTES = 8 * 1024;

/** text/: length of a regular expression that a model may hand in. */
export const PATTERN_MAX_CHARS = 4_000;

/** text/: size of its compiled form. Matching costs this times the length of the line, at worst. */
export const PATTERN_MAX_INSTRUCTIONS = 500;

/** environment/: the kernel's MAX_ARG_STRLEN, `NAME=value` and its NUL together. */
export const ENVIRONMENT_STRING_MAX_BYTES = 128 * 1024;

/** environment/: argv and environment share 2 MiB under the usual 8 MiB stack; the rest is left to argv. */
export const ENVIRONMENT_TOTAL_MAX_BYTES = 2 * 1024 * 1024 - 64 * 1024;

/** environment/: shorter values are not searched for in output, they would hit ordinary words. */
export const REDACT_VALUE_MIN_CHARS = 8;

/** environment/: a single line of a value is searched for when it has a word of this length. */
export const REDACT_LINE_MIN_CHARS = 16;

/** environment/: more backslashes in a row are no escape. Each level of quoting doubles them: six levels. */
export const REDACT_BACKSLASHES_MAX_COUNT = 64;

/** environment/: the indentation that a program may add to the lines of a value. */
export const REDACT_INDENT_MAX_CHARS = 16;

/** environment/: no spelling of one character is longer, its backslashes and indentation included. */
export const REDACT_SPELLING_MAX_CHARS = 128;

/** environment/: how far a token shape may look back, to a header's name or an escape before it. */
export const REDACT_LOOKBEHIND_MAX_CHARS = 64;

/** environment/: the longest token or private key block that is recognised, and so the most that is held back. */
export const REDACT_HOLD_MAX_CHARS = 20 * 1024;

/** engine/: how long a keeper may take to greet, and a slot to be ready. A ceiling against hangs. */
export const KEEPER_ANSWER_MAX_MS = 10_000;
/** engine/: poll interval for a stopped keeper while a request waits for its answer. */
export const KEEPER_STOPPED_CHECK_MS = 100;
/** engine/: how long to try again when the system is out of processes or file descriptors. */
export const SPAWN_RETRY_MAX_MS = 2_000;
/** engine/: how long the last answers of a dead keeper, or of a shim that it forked, can take to arrive. */
export const KEEPER_LAST_ANSWERS_MS = 100;
/** engine/: after this many restarts within the window the next one waits: restarting does not help. */
export const KEEPER_RESTARTS_MAX_COUNT = 5;
export const KEEPER_RESTART_WINDOW_MS = 10_000;
/** engine/: what every pipe takes in one write, even one of a user with many pipes. A larger job needs a slot of its own. */
export const JOB_MAX_BYTES = 4_096;

/** engine/: slots that wait for the next command. */
export const POOL_SLOTS_COUNT = 2;
/** engine/: attempts to create the state directory for one shell while another process removes it. */
export const STATE_DIRECTORY_TRIES_MAX_COUNT = 3;
/** shell/: how long a dead shim's report of the exit can take to arrive if its record was removed. */
export const EXIT_MESSAGE_MAX_MS = 1_000;
/** engine/: slots being forked at a time. */
export const OPENING_SLOTS_MAX_COUNT = 16;
/** engine/: delay before a dead slot is replaced. */
export const REFILL_AFTER_DEATH_MS = 500;
/** engine/: processes read before a scan of /proc yields. */
export const SCAN_CHUNK_COUNT = 200;

/** engine/: for a chain of processes that each fork one child and exit: the newest PIDs of one check, and the checks that
 * detect such a chain. */
export const NEWEST_PIDS_COUNT = 6;
export const NEWEST_CHECKS_COUNT = 8;
/** engine/, shell/: for killing such a chain: the time between two yields, and the time without a new process after which
 * the chain counts as dead. */
export const NEW_PROCESS_BURST_MS = 4;
export const NEW_PROCESS_QUIET_MS = 12;
/** engine/: up to this many PIDs are checked one by one; more are compared with a listing of /proc. */
export const FEW_PIDS_COUNT = 64;
/** engine/: no machine starts more processes per millisecond. */
export const FORKS_PER_MS_MAX_COUNT = 100;
/** engine/: the usual capacity of a pipe. */
export const SCRIPT_FIFO_BYTES = 64 * 1024;
/** engine/: between two attempts to write to a full pipe. */
export const SCRIPT_RETRY_MS = 1;

/** shell/: disk cap of one output stream. */
export const STREAM_CAP_BYTES = 2 * 1024 ** 3;
/** shell/: between TERM and KILL. */
export const KILL_GRACE_MS = 2_000;
/** shell/, engine/: how long killed processes may take to disappear before they count as survivors. */
export const KILL_VERIFY_MAX_MS = 2_000;
/** shell/: how long a kill may take before the caller gets its report, which names the rest as survivors. */
export const KILL_MAX_MS = 5_000;
/** shell/: before a scan: how long to check whether a command forks faster than a scan can follow, and to stop new processes. */
export const FORK_CHECK_MS = 0.5;
export const FORK_CHECK_MAX_MS = 25;
/** shell/: scans with new processes before new ones are killed as they appear, and how long that lasts at a time. */
export const FREEZE_ROUNDS_MAX_COUNT = 3;
export const NEW_PROCESS_MAX_MS = 1_000;
/** engine/: scans without a leftover before there is none, if the kernel assigned PIDs during each scan. */
export const LEFTOVER_SCANS_COUNT = 3;
/** shell/: interval of SIGCONT to a shim that has not recorded the end of a killed shell, in case it is stopped. */
export const CONTINUE_SHIMS_MS = 80;
/** shell/: the longest pause between two attempts to kill survivors in the background. */
export const KILL_AGAIN_MAX_MS = 10_000;
/** shell/: interval of the check for shims that died without a report. */
export const LIVENESS_CHECK_MS = 500;
/** shell/: shims whose state one such check reads. */
export const LIVENESS_READS_COUNT = 50;
/** shell/: live background shells of one scope. */
export const LIVE_SHELLS_PER_SCOPE_MAX_COUNT = 64;
/** shell/: what one read of new output returns at most; the rest waits for the next read. */
export const READ_MAX_BYTES = 256 * 1024;
/** shell/: a watched file is looked at this often, too, in case a notice was lost. */
export const WATCH_FALLBACK_MS = 250;
/** engine/: finished shells are kept this long, and together this large. */
export const FINISHED_MAX_AGE_SECONDS = 3_600;
export const SPOOL_QUOTA_BYTES = 10 * 1024 ** 3;
/** shell/: output is followed and searched in pieces of this size. */
export const READ_CHUNK_BYTES = 64 * 1024;
/** shell/: and after so many of them others get to run. */
export const READ_TURN_CHUNKS_COUNT = 16;
/** shell/: how much of the beginning of an unfinished line a search carries over to its next piece. */
export const MATCH_LINE_MAX_CHARS = 4 * 1024;
/** shell/: the largest output that is handed out as one string. */
export const ALL_OUTPUT_MAX_BYTES = 64 * 1024 ** 2;
/** engine/: how long a shell of another pid namespace, which may run, is kept after it was last touched. */
export const SPOOL_UNSEEN_MAX_MS = 7 * 24 * 3_600_000;
/** cli/: how often it is looked whether a named session is free. */
export const SESSION_TURN_POLL_MS = 50;
/** shell/: how often a running manager sweeps finished shells. */
export const SWEEP_INTERVAL_MS = 60_000;
/** shell/: and how long after the start that brought it up. */
export const SWEEP_DELAY_MS = 1_000;
/** shell/: what looking after the shells of dead hosts may take at the start. */
export const ADOPT_MAX_MS = 2_000;
/** shell/: shells looked at before others get to run. */
export const ADOPT_CHUNK_COUNT = 50;
/** shell/: how long a bash may take from its start to waiting for its job. */
export const ADOPT_UNCLEAR_MAX_MS = 250;
/** shell/: how long a durable shell lives, if nothing else is said. */
export const DURABLE_DEADLINE_MS = 86_400_000;
/** shell/: sessions with a bash; the one idle for longest rests when another one needs its place. */
export const SESSIONS_MAX_COUNT = 32;
/** shell/: shells a session remembers before it looks which of them have nothing running any more. */
export const SESSION_SHELLS_MAX_COUNT = 32;
/** shell/: how long a result waits for a new bash, to tell what it could not take over of the state before it. */
export const RESTORE_CHECK_MAX_MS = 1_000;
/** shell/: names that a note lists before it counts the rest. */
export const NOTE_NAMES_MAX_COUNT = 20;
/** shell/: the longest value or alias that the policy gets to see; a longer one is unknown to it. */
export const MEANING_VALUE_MAX_CHARS = 16 * 1024;
/** shell/: how long the profile of a session may take. */
export const PROFILE_MAX_MS = 10_000;
/** shell/: how long an interrupted command may take over its INT traps before it is killed. */
export const INTERRUPT_GRACE_MS = 1_000;
/** shell/: the longest pause between two looks at an interrupted command: has it ended, does a process need the signal
 * again? */
export const INTERRUPT_ROUND_MS = 50;
/** shell/: how long processes may keep appearing before a signal goes to those that were found. */
export const STOP_TOGETHER_MAX_MS = 500;
/** shell/: what the output of a session's command may take to be on disk after its report, and how long a
 * logger that cannot be looked at must be quiet. */
export const SESSION_DRAIN_MAX_MS = 5_000;
export const SESSION_DRAIN_IDLE_MS = 30;
/** shell/: a session's loggers are exchanged when a file is larger than this. */
export const SESSION_LOG_MAX_BYTES = 64 * 1024;
/** shell/: an output this long gets a file of its own; up to the second size it is copied there. */
export const SESSION_OWN_FILE_MIN_BYTES = 24 * 1024;
export const SESSION_COPY_MAX_BYTES = 8 * 1024 ** 2;
/** shell/: files of earlier output that a session's bash keeps. */
export const SESSION_RETIRED_MAX_COUNT = 64;
/** shell/: poll interval for what a background shell has taken over of its session's state. */
export const INHERITANCE_POLL_MS = 2;
/** shell/: how long a session's bash may take to write its state; a stopped one never does. */
export const STATE_SAVE_MAX_MS = 5_000;
/** engine/: what is written to learn whether a disk is full; a block of most file systems. */
export const DISK_PROBE_BYTES = 4096;
/** shell/, execution/: how long something that holds a command's output may take to go by itself, as a `tee` does, or
 * a child that was just forked to become its program. */
export const LEFTOVER_GRACE_MS = 30;
/** shell/: a bash that waits for the next command while one is outstanding no longer takes the harness: when
 * it is looked at first, then how often, and how many looks must agree. */
export const WATCHDOG_FIRST_MS = 100;
export const WATCHDOG_INTERVAL_MS = 250;
export const WATCHDOG_LOOK_MS = 20;
export const WATCHDOG_LOOKS_COUNT = 3;
/** shell/: and how long it may then take to end by itself. */
export const WATCHDOG_EXIT_MS = 300;
/** shell/: the longest timer there is. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

/** policy/: steps of one judgement, one or two microseconds each. A flat script of 1 MiB with ordinary lines stays below it. */
export const POLICY_STEPS_MAX_COUNT = 400_000;
/** policy/: steps that the shortest text may take. Ordinary commands take a few hundred. */
export const POLICY_STEPS_MIN_COUNT = 24_000;
/** policy/: steps that every character of the text adds to that. */
export const POLICY_STEPS_PER_CHAR_COUNT = 4;
/** policy/: levels of nesting over the text and the texts inside it. */
export const POLICY_DEPTH_MAX_COUNT = 300;
/** policy/: possible values of one variable, directory or word that are followed. */
export const POLICY_ALTERNATIVES_MAX_COUNT = 32;
/** policy/: symbolic links that are followed one after the other; the kernel gives up at as many. */
export const POLICY_LINKS_MAX_COUNT = 40;
/** policy/: places that one word may lead to through links. */
export const POLICY_PLACES_MAX_COUNT = 16;
/** policy/: variables that are followed; later ones count as unknown. */
export const POLICY_VARIABLES_MAX_COUNT = 256;
/** policy/: words one brace expansion may yield before the rest counts as unknown. */
export const POLICY_BRACES_MAX_COUNT = 64;
/** policy/: text that is folded through echo, printf and the like, and re-read as a script. */
export const POLICY_FOLDED_MAX_CHARS = 256 * 1024;
/** policy/: the arguments of one command that rules about its program look at; with more it is asked about. */
export const POLICY_ARGUMENTS_MAX_CHARS = 32 * 1024;
/** policy/: effective commands of one judgement that are kept for its explanation and for the rules of people. */
export const POLICY_COMMANDS_MAX_COUNT = 10_000;
/** policy/: program names whose rules are remembered. */
export const POLICY_PROGRAMS_MAX_COUNT = 1_000;
/** policy/: findings of one judgement that are kept. */
export const POLICY_FINDINGS_MAX_COUNT = 100;

/** execution/: entries of a directory that are looked at for symbolic links that a pattern may stand for. */
export const LISTED_ENTRIES_MAX_COUNT = 2_000;
/** execution/: the timeout of a foreground command, and the longest one that may be asked for. */
export const DEFAULT_TIMEOUT_MS = 120_000;
export const MAX_TIMEOUT_MS = 600_000;
/** execution/: the shortest one; a smaller number is taken for seconds by mistake. */
export const MIN_TIMEOUT_MS = 1_000;
/** execution/: foreground commands of one scope at a time; more wait for their turn. */
export const FOREGROUND_PER_SCOPE_MAX_COUNT = 16;
/** execution/: how often progress is told at most. */
export const PROGRESS_INTERVAL_MS = 250;
/** execution/: how many of the last lines progress shows, and how many bytes are read for them. */
export const PROGRESS_LINES_COUNT = 5;
export const PROGRESS_READ_BYTES = 2 * REDACT_HOLD_MAX_CHARS;
/** execution/: output up to this size is read whole; of a larger one, only as much from each end. */
export const WHOLE_READ_MAX_BYTES = 256 * 1024;
export const END_READ_BYTES = 128 * 1024;
/** execution/: lines are filtered and counted in pieces of this size, and others run in between. */
export const SCAN_PIECE_BYTES = 256 * 1024;
/** execution/: how long BashOutput may wait, and how long it does when a pattern is given without a time. */
export const WAIT_MAX_MS = 50_000;
export const WAIT_DEFAULT_MS = 30_000;
/** execution/: the longest line a filter sees in one piece; a longer one is filtered in parts. */
export const FILTER_LINE_MAX_CHARS = 4 * 1024 ** 2;
/** execution/: how long bash may take to read a text that our parser cannot. */
export const SYNTAX_CHECK_MAX_MS = 10_000;
/** execution/: the largest file of rules that is read. */
export const POLICY_FILE_MAX_BYTES = 1024 * 1024;
/** execution/: commands in which a path with unquoted spaces is looked for, and the words such a path may have. */
export const HINT_COMMAND_MAX_CHARS = 2_000;
export const HINT_PATH_MAX_WORDS = 8;
/** execution/: how much of a matched line a note repeats. */
export const MATCH_NOTE_MAX_CHARS = 200;
/** execution/: the modes dialect. */
export const MODE_DEFAULT_TIMEOUT_MS = 30_000;
export const MODE_SLOW_TIMEOUT_MS = 900_000;
export const MODE_BACKGROUND_TIMEOUT_MS = 86_400_000;

/** cli/: how long `nacre ps` shows a shell that has ended without being asked for all. */
export const PS_RECENT_MS = 10 * 60_000;
/** cli/: how long `nacre doctor` waits for a command to end, or for a change to be told. */
export const DOCTOR_WAIT_MS = 10_000;
/** cli/: how long an orphan that has ended may take to be reaped before doctor reports it. */
export const REAPED_MAX_MS = 2_000;
/** cli/: so little free space is worth a word. */
export const LOW_SPACE_BYTES = 1024 ** 3;
/** cli/: what one command of the tour may take. */
export const TOUR_STEP_MAX_MS = 5_000;
/** cli/: how often `nacre ps --watch` looks. */
export const PS_WATCH_MS = 500;

/** mcp/: a call returns after this time at the latest; its command goes on. Clients cut calls at about 60 s. */
export const MCP_RETURN_AFTER_MS = 50_000;
/** mcp/: when the keeper is started and the policy loaded, unless a call comes before. */
export const MCP_PREPARE_AFTER_MS = 50;
/** mcp/: the largest message that is read; a larger one is answered with an error. */
export const MCP_MESSAGE_MAX_BYTES = 16 * 1024 * 1024;
/** mcp/: the longest id or name of a member that is looked at in a message that is too large. */
export const MCP_ID_MAX_BYTES = 1_024;
/** mcp/: what is written to a client at a time. */
export const MCP_WRITE_MAX_BYTES = 16 * 1024;
/** mcp/: at the end, how long a client may take nothing before what it has not read is given up. */
export const MCP_UNREAD_MAX_MS = 600;
/** How much of a message that is too large is heard out over HTTP, so that its sender reads why it is refused. */
export const MCP_HTTP_DISCARD_MAX_BYTES = 128 * 1024 * 1024;
/** mcp/: after the client's last word, how long calls that run may take to be answered. */
export const MCP_DRAIN_MAX_MS = 400;
/** mcp/: at the end, how long commands get between TERM and KILL, and calls to come back. */
export const MCP_END_GRACE_MS = 250;
export const MCP_END_MAX_MS = 5_000;
/** mcp/: how often subscribers are told of changed output at most. */
export const MCP_WATCH_INTERVAL_MS = 250;
/** mcp/: how much of a command names its output in a list. */
export const RESOURCE_TITLE_MAX_CHARS = 120;
/** mcp/: connections of the older era over HTTP: how many, and how long one may be silent. */
export const MCP_HTTP_SESSIONS_MAX_COUNT = 256;
export const MCP_HTTP_SESSION_IDLE_MS = 30 * 60_000;
/** mcp/: the shortest token that clients over HTTP may be let in with. */
export const MCP_TOKEN_MIN_CHARS = 16;
/** mcp/: questions to a person that wait for an answer; older ones are forgotten, and so refused. */
export const MCP_QUESTIONS_MAX_COUNT = 100;

/** engine/: how long a program that answers a question may take, and how much of its complaint is kept. */
export const PROBE_MAX_MS = 10_000;
export const PROBE_OUTPUT_MAX_CHARS = 2_000;
/** sandbox/: links that are followed on the way along one path, as many as the kernel follows. */
export const LINKS_MAX_COUNT = 40;
/** sandbox/: parts of submodules' repositories that are guarded. */
export const GIT_MODULES_MAX_COUNT = 256;
/** shell/: files of output that one bash of a sandboxed session can have; the next one's are numbered from there. */
export const SANDBOX_FILES_COUNT = 1_000_000;
/** sandbox/: names below one directory from which on it is listed once instead of asking for each. */
export const CREDENTIAL_LISTING_MIN_COUNT = 24;
/** sandbox/: homes of other users in which credentials are masked; their own permissions protect them, too. */
export const OTHER_HOMES_MAX_COUNT = 32;
/** sandbox/: git configuration and indexes beyond these sizes are not read. */
export const GIT_CONFIG_MAX_BYTES = 1024 * 1024;
export const GIT_INDEX_MAX_BYTES = 32 * 1024 * 1024;
/** sandbox/: how far includes of git configuration are followed, as in git itself. */
export const GIT_INCLUDES_MAX_DEPTH = 10;
/** sandbox/: where repositories are looked for, before and after a command: levels below a writable root, and directories in all. */
export const REPOSITORY_SEARCH_MAX_DEPTH = 3;
export const REPOSITORY_SEARCH_MAX_DIRECTORIES = 128;
/** sandbox/: repositories below a writable root in which commits work; .git of any further one is read-only as a whole. */
export const NESTED_REPOSITORIES_MAX_COUNT = 32;
/** sandbox/: a directory that changed less than this before it was listed is listed again: time stamps are coarse. */
export const LISTING_SETTLED_MS = 50;
/** sandbox/: how long a start waits for the lock on placeholders, which a live process holds for milliseconds. */
export const PLACEHOLDER_LOCK_MAX_MS = 5_000;
/** sandbox/: paths that one remark names. */
export const MESSAGE_PATHS_MAX_COUNT = 5;
/** cli/: caches of compiled code in the state root: how many files, how large together, how old one that is half written. */
export const CODE_CACHE_MAX_COUNT = 40;
export const CODE_CACHE_MAX_BYTES = 64 * 1024 ** 2;
export const CODE_CACHE_TEMPORARY_MAX_MS = 60_000;
/** cli/: when a command that still runs saves what it has compiled; others do at their end. */
export const CODE_CACHE_SAVE_AFTER_MS = 5_000;
