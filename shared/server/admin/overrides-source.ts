/** Where overrides are read from: files on one machine (shared/server/admin/overrides-file.ts), or an object of the store. */
import { createHash } from 'node:crypto';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { ConfigError } from './config.ts';
import { MAX_OVERRIDES_BYTES } from './overrides.ts';

export interface OverridesSource {
  /** For messages: path or key. */
  readonly name: string;
  /**
   * The text with a stamp that differs whenever the text does, or undefined where the stamp is still `known`. Throws
   * ConfigError where there is nothing to read, or too much; other errors of the place are passed on.
   */
  read(known: string | undefined): Promise<StampedText | undefined>;
}

export interface StampedText {
  readonly text: string;
  readonly stamp: string;
}

/**
 * An object of the store. Its stamp is its size and a hash of what it holds: the port knows no time of change. So each
 * look reads it, which costs one request of a few KB every `period`.
 */
export function overridesObject(store: Pick<ObjectStore, 'head' | 'get'>, key: string): OverridesSource {
  return {
    name: key,
    async read(known) {
      const info = await store.head(key);
      if (info === undefined) throw new ConfigError(`${key}: no such object`);
      if (info.size > MAX_OVERRIDES_BYTES) throw tooLarge(key);
      const bytes = await store.get(key);
      const stamp = `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`;
      return stamp === known ? undefined : { text: bytes.toString('utf8'), stamp };
    },
  };
}

export function tooLarge(name: string): ConfigError {
  return new ConfigError(`${name}: larger than ${MAX_OVERRIDES_BYTES} bytes`);
}
