/** Reads the files of `ruler.storage` where it is local: `<directory>/<tenant>/<file>`. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuleStorage } from '../shared/server/admin/config-ruler.ts';
import type { ReadRuleFiles, RuleFile } from '../shared/server/rules/local-rule-store.ts';
import { MAX_GROUP_BYTES } from '../shared/storage/catalog/rule-group.ts';

/** Of all tenants together; whoever has more uses the store. */
const MAX_FILES = 1000;

/** Undefined where rules lie in the store. What cannot be read at all rejects; folders that are not there are empty. */
export function ruleFilesReader({ type, directory }: RuleStorage): ReadRuleFiles | undefined {
  return type === 'local' ? () => readRuleFiles(directory) : undefined;
}

async function readRuleFiles(directory: string): Promise<RuleFile[]> {
  const found: RuleFile[] = [];
  for (const tenant of await names(directory)) {
    for (const file of await names(join(directory, tenant))) {
      const text = await textOf(join(directory, tenant, file));
      if (text === undefined) continue;
      if (found.length === MAX_FILES)
        throw new Error(`more than ${MAX_FILES} files of rules in ${directory}`);
      found.push({ tenant, file, text });
    }
  }
  return found;
}

/** Editors and mounted volumes keep hidden files and folders beside. */
async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(name => !name.startsWith('.')).sort();
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** Undefined where it is no file, or not there any more. What is too large is cut where it is sure to be refused. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return undefined;
    const pieces: Buffer[] = [];
    for await (const piece of createReadStream(path, { end: MAX_GROUP_BYTES })) pieces.push(piece as Buffer);
    return Buffer.concat(pieces).toString();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
