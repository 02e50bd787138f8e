// The rule for terminals. It applies to every command that gets a terminal, whatever its text. The policy cannot
// reliably judge what is typed later (type-ahead, line editing, history, `vim :!`, `less !`), so a person
// approves the terminal.

export const TERMINAL_RULE = {
  id: "terminal-input",
  verdict: "ask",
  // The severity is high, so that the profile "trusting" does not lift the rule: any command can be typed into a
  // terminal.
  severity: "high",
  reason: "The command gets a terminal, and the policy cannot judge everything that is typed into it.",
  alternative: "Use a sandbox, which also confines what is typed, or run the command without a terminal.",
} as const;
