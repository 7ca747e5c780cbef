/** Sources of overrides: local files (shared/server/admin/overrides-file.ts), or an object of the store. */
import { createHash } from 'node:crypto';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { ConfigError } from './config.ts';
import { MAX_OVERRIDES_BYTES } from './overrides.ts';

export interface OverridesSource {
  /** Name for messages: path or key. */
  readonly name: string;
  /**
   * Resolves to the text with a stamp that changes with the text, or to `undefined` if the stamp equals
   * `known`. Throws ConfigError if the text is missing or too large. Passes other errors on.
   */
  read(known: string | undefined): Promise<StampedText | undefined>;
}

interface StampedText {
  readonly text: string;
  readonly stamp: string;
}

/**
 * An object of the store. Its stamp is its size and a hash of its content, because the port knows no
 * modification time. Each check reads it, which costs one request of a few KB per `period`.
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
