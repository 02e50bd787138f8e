// The rule about terminals. It is about the start and not about the text of the command: what is typed later cannot be
// judged reliably (type-ahead, line editing, history, `vim :!`, `less !`), so a person approves the terminal as a whole.

export const TERMINAL_RULE = {
  id: "terminal-input",
  verdict: "ask",
  // Not lifted by the profile "trusting": any command can be typed.
  severity: "high",
  reason: "The command gets a terminal, and the policy cannot judge everything that is typed into it.",
  alternative:
    'Use a sandbox (sandbox: "workspace-write"), which also confines what is typed, or run the command without a terminal.',
} as const;
