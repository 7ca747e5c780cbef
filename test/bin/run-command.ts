/** Runs `logboom` as a user does: in a separate process under the pinned runtime, with its output in pipes. */
import { spawn } from 'node:child_process';
import { CACHE, PROGRAM } from '../support/program.ts';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text for standard input, which is then closed; `open` keeps it open to the end. */
  readonly stdin?: string | { readonly open: string };
}

export function logboom(
  args: readonly string[],
  { env = {}, stdin = '' }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
    // Removes the variables of the terminal that the tests run in.
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: CACHE,
      LOGBOOM_CONTEXTS_FILE: '/dev/null/none',
      ...env,
    },
  });
  if (typeof stdin === 'string') child.stdin.end(stdin);
  else child.stdin.write(stdin.open);
  // A command may end before it has read everything.
  child.stdin.on('error', () => {});
  const collect = (stream: NodeJS.ReadableStream) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    return () => Buffer.concat(pieces).toString('utf8');
  };
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => resolve({ code, stdout: stdout(), stderr: stderr() }));
  });
}
