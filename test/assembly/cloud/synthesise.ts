/** The stack as `npm run synth` writes it, with these settings. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Rejects with what the CDK said where it fails. */
export async function synthesise(folder: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const context = Object.entries(settings).flatMap(([name, value]) => ['--context', `${name}=${value}`]);
  const command = [join(ROOT, 'scripts', 'synth.mjs'), '--output', folder, ...context];
  await promisify(execFile)(process.execPath, command, { cwd: ROOT });
}
