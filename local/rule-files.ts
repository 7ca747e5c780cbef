/** Reads the files of `ruler.storage` where it is local: `<directory>/<tenant>/<file>`. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuleStorage } from '../shared/admin/config-ruler.ts';
import { MAX_GROUP_BYTES } from '../shared/catalog/rule-group.ts';
import type { ReadRuleFiles, RuleFile } from '../shared/rules/local-rule-store.ts';

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
      const path = join(directory, tenant, file);
      // Editors and mounted volumes keep hidden files and folders beside.
      if (file.startsWith('.') || !(await isReadable(path))) continue;
      found.push({ tenant, file, text: await readFile(path, 'utf8') });
      if (found.length === MAX_FILES) return found;
    }
  }
  return found;
}

async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** A file, and none that would be refused for its size only after it was read. */
async function isReadable(path: string): Promise<boolean> {
  const { size, isFile } = await stat(path).then(found => ({ size: found.size, isFile: found.isFile() }));
  return isFile && size <= MAX_GROUP_BYTES;
}
