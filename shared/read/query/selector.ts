/** Stream selectors: which streams match, and which chunks cannot contain one. */

import type { Stream } from '../../base/model/page.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import { compileMatchers } from '../../language/logql/matcher.ts';
import { compileRegex } from '../../language/regex/regex.ts';
import { mayHaveAny, pairHash } from '../../storage/catalog/label-sketch.ts';

export interface StreamSelector {
  matches(stream: Stream): boolean;
  /** Returns false only if no stream of a chunk with this label sketch can match. */
  mayMatch(sketch: Uint32Array | undefined): boolean;
}

/** Maximum cached verdicts by stream. Queries with more streams evaluate their matchers again. */
const REMEMBERED_STREAMS = 200_000;

export function compileSelector(matchers: readonly Matcher[]): StreamSelector {
  const accepts = compileMatchers(matchers);
  const required = matchers.map(requiredPairs).filter(pairs => pairs !== undefined);
  const known = new Map<Stream, boolean>();
  return {
    matches: stream => {
      let answer = known.get(stream);
      if (answer === undefined) {
        answer = accepts(stream.labels);
        if (known.size < REMEMBERED_STREAMS) known.set(stream, answer);
      }
      return answer;
    },
    mayMatch: sketch => required.every(pairs => mayHaveAny(sketch, pairs)),
  };
}

/** Hashes of the label pairs of which a matching stream has one. Undefined if there is no such list. */
function requiredPairs({ name, op, value }: Matcher): number[] | undefined {
  if (op === '=') return value === '' ? undefined : [pairHash(name, value)];
  if (op !== '=~') return undefined;
  const values = compileRegex(value, { anchored: true, dotMatchesNewline: true }).setMatches;
  if (values === undefined || values.includes('')) return undefined;
  return values.map(one => pairHash(name, one));
}
