/** The Markdown pages of the documentation, by their paths below docs/. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
const DOCS = join(ROOT, 'docs');
/** Folders whose pages are not task pages: reference tables, and pages for people who change Logboom. */
const OTHER_FOLDERS = /^(reference|dev|site)\//;

export function pathOf(page: string): string {
  return join(DOCS, page);
}

export function allPages(): string[] {
  return readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md') && !name.includes('node_modules'))
    .map(name => name.replaceAll('\\', '/'))
    .sort();
}

/** The pages that users read in an afternoon. */
export function userPages(): string[] {
  return allPages().filter(page => !OTHER_FOLDERS.test(page));
}
