/** The stack as the CDK writes it, from a run of its own: the library is too large for the tests' process. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template has the shape that the tests are about to check
  readonly Properties: any;
  readonly DeletionPolicy?: string;
}

export interface Assembly {
  readonly folder: string;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: Readonly<Record<string, { readonly Value: unknown }>>;
  remove(): void;
}

/** Runs `npm run synth` with these arguments. Rejects with its standard error where it fails. */
export async function synthesise(...args: readonly string[]): Promise<Assembly> {
  const folder = mkdtempSync(join(tmpdir(), 'logboom-synth-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const command = [join(ROOT, 'scripts', 'synth.mjs'), '--output', folder, ...args];
    await promisify(execFile)(process.execPath, command, { cwd: ROOT });
    const template = JSON.parse(readFileSync(join(folder, 'Logboom.template.json'), 'utf8'));
    return { folder, resources: template.Resources, outputs: template.Outputs, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
