/** Lines of standard input as they arrive. Pitfall: readline would split at U+2028. */
export async function* inputLines() {
  let rest = '';
  for await (const part of process.stdin.setEncoding('utf8')) {
    const lines = (rest + part).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  if (rest !== '') yield rest;
}
