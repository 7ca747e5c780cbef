/** Runs the commands that a deployment prints, as printed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The function that the printed command of the first token calls. */
export function functionOf(command: string): string {
  const name = /--function-name (\S+)/.exec(command)?.[1];
  if (name === undefined) throw new Error(`no function is named by ${command}`);
  return name;
}

/** Resolves to the output of the command. Rejects if the command fails. */
export async function runInShell(command: string, token: string): Promise<string> {
  const env = { ...process.env, LOGBOOM_TOKEN: token };
  const { stdout } = await promisify(execFile)('sh', ['-ec', command], { env });
  return stdout;
}
