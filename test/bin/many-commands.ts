/**
 * Runs many commands of `logboom` in one process whose outputs pose as terminals or pipes.
 * terminal-output.test.ts starts it, writes the commands as JSON to standard input, and reads their output from
 * standard output.
 */
import { readFileSync } from 'node:fs';
import { createProgram } from '../../bin/cli/program.ts';

export interface ManyCommands {
  readonly terminal: boolean;
  readonly commands: readonly (readonly string[])[];
}

export interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Width of a usual terminal. */
const COLUMNS = 200;
const ROWS = 24;

const { terminal, commands } = JSON.parse(readFileSync(0, 'utf8')) as ManyCommands;
const streams = { stdout: process.stdout, stderr: process.stderr };
const write = process.stdout.write.bind(process.stdout);
const outputs: CommandOutput[] = [];
let said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  Object.assign(streams[name], {
    isTTY: terminal,
    columns: COLUMNS,
    rows: ROWS,
    write: (part: string | Uint8Array) => {
      said[name] += typeof part === 'string' ? part : Buffer.from(part).toString();
      return true;
    },
  });
}
for (const args of commands) {
  said = { stdout: '', stderr: '' };
  process.exitCode = 0;
  const program = await createProgram(args[0]);
  await program.parseAsync(args, { from: 'user' });
  outputs.push({ ...said, code: Number(process.exitCode) });
}
process.exitCode = 0;
write(JSON.stringify(outputs), () => process.exit());
