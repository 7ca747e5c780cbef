/**
 * Cases with intentional differences: ID → number of the difference (docs/reference/differences.md).
 * exceptions.json contains nothing else; an entry whose case is answered as recorded is stale.
 */
import { readFileSync } from 'node:fs';

export type Exceptions = ReadonlyMap<string, string>;

const FILE = new URL('./exceptions.json', import.meta.url);

export function loadExceptions(): Exceptions {
  return new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, string>));
}
