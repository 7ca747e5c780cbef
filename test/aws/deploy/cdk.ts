/** The command line of the CDK, as `npm run cdk` calls it, against the emulator; and the assemblies that it deploys. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const run = promisify(execFile);
/** The CDK prints each event of a stack. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Account of every caller in the emulator. */
export const ENVIRONMENT = 'aws://000000000000/us-east-1';

/** Writes a stack in several settings, each into a folder of its name. Rejects with the output of the CDK. */
export async function writeAssemblies(
  folder: string,
  variants: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  const builder = join(import.meta.dirname, 'write-assemblies.ts');
  await run(process.execPath, [builder, folder, JSON.stringify(variants)], { cwd: ROOT });
}

/** Resolves to the output. Rejects with the output if the command fails. */
export async function runCdk(emulator: string, args: readonly string[]): Promise<string> {
  const command = [join(ROOT, 'scripts', 'cdk.mjs'), ...args, '--no-notices', '--ci', '--progress', 'events'];
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL: emulator,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
  };
  const { stdout, stderr } = await run(process.execPath, command, {
    cwd: ROOT,
    env,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return stdout + stderr;
}
