// What `nacre` alone prints: what it is, and three things to try.
export function tour(): string {
  return `nacre: the shell that AI agents should have had

Every call returns, nothing is lost, nothing escapes. Try it:

  nacre run 'echo hello; exit 3'          output and exit code pass through
  nacre run 'sleep 1000 & echo hi'        returns at once, names what was left, ends it
  nacre run 'yes | head -c 100M | wc -c'  a hundred megabytes, and no memory to speak of

From a clone, write \`npm start --\` instead of \`nacre\`. More: nacre --help
`;
}
