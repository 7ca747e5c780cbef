/** Reads the rule files if `ruler.storage` is local: `<directory>/<tenant>/<file>`. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuleStorage } from '../shared/server/admin/config-ruler.ts';
import type { ReadRuleFiles, RuleFile } from '../shared/server/rules/local-rule-store.ts';
import { MAX_GROUP_BYTES } from '../shared/storage/catalog/rule-group.ts';

/** Limit for all tenants together. Larger installations keep rules in the store. */
const MAX_FILES = 1000;

/**
 * Returns `undefined` if rules are in the store. The reader rejects if files are unreadable. Missing folders
 * count as empty.
 */
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
        throw new Error(
          `more than ${MAX_FILES} rule files in ${directory}; keep rules in the store instead (ruler.storage)`,
        );
      found.push({ tenant, file, text });
    }
  }
  return found;
}

/** Lists names without hidden files and folders, which editors and mounted volumes create. */
async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(name => !name.startsWith('.')).sort();
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/**
 * `undefined` if it is not a file or was deleted. A file over the limit is cut at a length that validation
 * refuses.
 */
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
