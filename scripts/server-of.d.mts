export function serverOf(text: string): { command: string; args: string[] } | undefined;
