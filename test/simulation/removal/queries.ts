/** Queries of delete requests, with what they mean in plain words. */
import type { SimulatedEntry } from '../model.ts';

interface DeleteQuery {
  readonly query: string;
  readonly holds: (entry: SimulatedEntry) => boolean;
}

export const DELETE_QUERIES: readonly DeleteQuery[] = [
  { query: '{app="a"}', holds: ({ labels }) => labels.app === 'a' },
  { query: '{app="b", pod!="1"}', holds: ({ labels }) => labels.app === 'b' && labels.pod !== '1' },
  {
    query: '{app=~"a|c"} |= "even"',
    holds: ({ labels, line }) => labels.app !== 'b' && line.includes('even'),
  },
  { query: '{pod="2"} != "same"', holds: ({ labels, line }) => labels.pod === '2' && !line.includes('same') },
  {
    query: '{app!="c"} | trace="x"',
    holds: ({ labels, metadata }) => labels.app !== 'c' && metadata.trace === 'x',
  },
];

/** Throws RangeError for a query that is not in the list. */
export function meaningOf(query: string): DeleteQuery['holds'] {
  const known = DELETE_QUERIES.find(one => one.query === query);
  if (known === undefined) throw new RangeError(`a query of nobody: ${query}`);
  return known.holds;
}
