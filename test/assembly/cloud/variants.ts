/** Settings that the stack is run with here. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const config = join('test', 'assembly', 'config.yaml');

export const VARIANTS = {
  open: { authorization: 'none', public: 'yes-really', canary: 'yes', config },
  tokens: { authorization: 'token', config },
} as const;

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Writes each variant to a folder of its name below `folder`. Rejects with the output of the CDK if it fails. */
export async function writeAll(folder: string): Promise<void> {
  const builder = join(import.meta.dirname, 'write-variants.ts');
  await promisify(execFile)(process.execPath, [builder, folder], { cwd: ROOT });
}
