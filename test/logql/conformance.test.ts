/** The recorded responses of the reference for queries that it formats or refuses while parsing. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { ClientError } from '../../shared/base/model/errors.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { prettyPrint } from '../../shared/language/logql/pretty.ts';

interface Case {
  readonly id: string;
  readonly category: string;
  readonly query: Record<string, string> | null;
  readonly form?: Record<string, string> | null;
  readonly status: number;
  readonly body: string | { readonly error?: string; readonly data?: unknown };
}

const place = new URL('../conformance/recorded/cases.json.gz', import.meta.url);
const cases = (JSON.parse(gunzipSync(readFileSync(place)).toString()) as Case[]).filter(({ category }) =>
  ['format-query', 'invalid-format', 'invalid-query'].includes(category),
);

/** Intentional differences: the reference leaves a space at the end of a line (difference D6). */
const TRAILING_SPACES = new Set([
  'format-query#407',
  'format-query#419',
  'format-query#433',
  'format-query#445',
  'format-query#461',
]);

/** Refused later than at parsing: by the building of a pipeline, or for the type of the query. */
const LATER = /^parse error : stage |^log queries are not supported/;

function answer(text: string): { status: number; text: string } {
  try {
    return { status: 200, text: prettyPrint(parseQuery(text)) };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { status: error.status, text: error.message };
  }
}

function recordedText({ body, status }: Case): string {
  if (typeof body === 'string') return body;
  // Difference D7: the true line if the reference prints 0.
  return status === 200 ? String(body.data) : body.error!.replace('at line 0,', 'at line 1,');
}

describe('recorded answers', () => {
  test('are there', () => {
    expect(cases.length).toBe(542);
  });

  test.each(cases.map(one => [one.id, one] as const))('%s', (id, one) => {
    const got = answer((one.query ?? one.form)?.query ?? '');
    const want = recordedText(one).replace('at line 0,', 'at line 1,');
    if (one.category === 'invalid-query' && (one.status === 200 || LATER.test(want))) {
      expect(got.status).toBe(200);
      return;
    }
    expect(got.status).toBe(one.status);
    if (TRAILING_SPACES.has(id)) {
      expect(got.text).not.toBe(want);
      expect(got.text).toBe(want.replace(/ +$/gm, ''));
    } else expect(got.text).toBe(want);
  });
});
