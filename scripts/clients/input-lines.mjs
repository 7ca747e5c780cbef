/** The lines of standard input as they come. Not readline: it takes U+2028 for the end of a line. */
export async function* inputLines() {
  let rest = '';
  for await (const part of process.stdin.setEncoding('utf8')) {
    const lines = (rest + part).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  if (rest !== '') yield rest;
}
