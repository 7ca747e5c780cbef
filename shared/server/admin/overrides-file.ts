/** Overrides in a file of this machine. Time of change and size tell whether it is to be read again. */
import { readFile, stat } from 'node:fs/promises';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { isMissing } from '../../base/runtime/file-errors.ts';
import { ConfigError } from './config.ts';
import type { RuntimeConfig } from './config-fields.ts';
import { MAX_OVERRIDES_BYTES } from './overrides.ts';
import { type OverridesSource, overridesObject, tooLarge } from './overrides-source.ts';

/** What a configuration names: its files in their order, then its object. */
export function overridesSources({ files, object }: RuntimeConfig, store: ObjectStore): OverridesSource[] {
  const sources = files.map(overridesFile);
  return object === '' ? sources : [...sources, overridesObject(store, object)];
}

export function overridesFile(path: string): OverridesSource {
  return {
    name: path,
    async read(known) {
      // The stamp is taken before the text: a change between the two is seen at the next look.
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
