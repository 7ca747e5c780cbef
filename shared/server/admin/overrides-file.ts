/** Overrides in a local file. Modification time and size show whether it must be read again. */
import { readFile, stat } from 'node:fs/promises';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { isMissing } from '../../base/runtime/file-errors.ts';
import { ConfigError } from './config.ts';
import type { RuntimeConfig } from './config-fields.ts';
import { MAX_OVERRIDES_BYTES } from './overrides.ts';
import { type OverridesSource, overridesObject, tooLarge } from './overrides-source.ts';

/** Sources that a configuration names: its files in order, then its object. */
export function overridesSources({ files, object }: RuntimeConfig, store: ObjectStore): OverridesSource[] {
  const sources = files.map(overridesFile);
  return object === '' ? sources : [...sources, overridesObject(store, object)];
}

export function overridesFile(path: string): OverridesSource {
  return {
    name: path,
    async read(known) {
      // Stamped before the text is read, so that a change in between is detected at the next check.
      const stamp = await stampOf(path);
      if (stamp === known) return undefined;
      return { text: await readFile(path, 'utf8'), stamp };
    },
  };
}

async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeNs, ino, size } = await stat(path, { bigint: true });
    if (size > BigInt(MAX_OVERRIDES_BYTES)) throw tooLarge(path);
    return `${mtimeNs} ${ino} ${size}`;
  } catch (error) {
    if (isMissing(error)) throw new ConfigError(`${path}: no such file`);
    throw error;
  }
}
