/** Files of the repository that a page names in code spans: by their path, or by their name alone. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withoutBlocks } from './code-blocks.ts';
import { ROOT } from './pages.ts';

const FOLDERS = [
  ...['bench', 'bin', 'config', 'docs', 'functions', 'lib', 'local', 'packaging', 'scripts', 'shared'],
  ...['test', 'ui'],
];
/** Capitals and `*` stand for other names. */
const PATH = new RegExp(`^(?:${FOLDERS.join('|')})/[a-z0-9_./-]+$`);
const FILE = /^[a-z0-9_/.-]+\.(?:tsx?|mjs|cjs|yaml)$/;

const filesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });

let names: ReadonlySet<string> | undefined;

function fileNames(): ReadonlySet<string> {
  names ??= new Set(
    [...readdirSync(ROOT), ...FOLDERS.flatMap(filesBelow)]
      .filter(path => !path.includes('node_modules'))
      .map(path => basename(path)),
  );
  return names;
}

/** Paths and names of files in code spans that do not exist. */
export function missingFiles(markdown: string): string[] {
  const spans = [...withoutBlocks(markdown).matchAll(/`([^`\n]+)`/g)].map(([, span]) => span);
  return spans.filter(span => {
    if (PATH.test(span)) return !['', '.ts'].some(ending => existsSync(join(ROOT, span + ending)));
    return FILE.test(span) && !fileNames().has(basename(span));
  });
}
