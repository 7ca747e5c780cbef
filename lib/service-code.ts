/** Code of the write service: the program in a folder, and the script that fetches it into a container. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleServer } from '../bin/bundle-server.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const START = fileURLToPath(new URL('start-container.ts', import.meta.url));
/** Files that a container never loads. */
const UNUSED = [
  'embed.mjs',
  ...['local-queries', 'mcp', 'rules', 'store-commands', 'view'].flatMap(name => [
    `${name}.cjs`,
    `${name}.js`,
  ]),
];

export interface ServiceCode {
  /** Folder of the program; its main module is logboom.cjs. */
  readonly folder: string;
  /** Text of the script. */
  readonly start: string;
}

/** @param into an existing folder */
export async function buildServiceCode(into: string): Promise<ServiceCode> {
  const folder = join(into, 'program');
  mkdirSync(folder);
  const start = await bundledStart();
  await bundleServer(folder);
  for (const name of UNUSED) rmSync(join(folder, name));
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  return { folder, start };
}

async function bundledStart(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [START],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: true,
    // CloudFormation would take `${name}` in the command for one of its parameters.
    supported: { 'template-literal': false },
    legalComments: 'none',
    write: false,
    logLevel: 'warning',
  });
  return outputFiles[0].text;
}
