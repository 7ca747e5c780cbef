/**
 * Refuses queries that a tenant's limits block (docs/dev/wire-format.md#limits-of-queries;
 * docs/dev/logql-semantics.md#limits-of-a-query).
 */

import { BadRequestError, messageOf } from '../../base/model/errors.ts';
import type { BlockedQuery } from '../../base/model/limits.ts';
import type { Expr } from '../../language/logql/ast.ts';
import { compileRegex } from '../../language/regex/regex.ts';

/**
 * Throws BadRequestError if a rule blocks the query.
 *
 * @param text the query as the client sent it
 * @param tags value of X-Query-Tags
 */
export function checkBlocked(text: string, expr: Expr, tags: string, rules: readonly BlockedQuery[]): void {
  const rule = rules.find(one => fitsTags(one, tags) && fitsText(one, text));
  if (rule === undefined) return;
  if (rule.types.length === 0 || rule.types.includes(kindOf(expr))) {
    throw new BadRequestError('query blocked by policy');
  }
}

function fitsText({ pattern, regex, hash }: BlockedQuery, text: string): boolean {
  if (hash > 0) return fnv1(text) === hash;
  if (pattern === '' || pattern.trim() === text.trim()) return true;
  return regex && compiles(pattern).test(text);
}

/**
 * An invalid rule must not permit what it was meant to block: every query is refused until the rule is fixed.
 */
function compiles(pattern: string) {
  try {
    return compileRegex(pattern);
  } catch (error) {
    throw new BadRequestError(
      `query blocked by policy: a pattern of blocked_queries is invalid: ${messageOf(error)}`,
    );
  }
}

function fitsTags({ queryTags }: BlockedQuery, header: string): boolean {
  const given = new Map<string, string>();
  for (const pair of header.split(',')) {
    const [name, ...value] = pair.split('=');
    given.set(name.trim().toLowerCase(), value.join('=').trim().toLowerCase());
  }
  return Object.entries(queryTags).every(
    ([name, value]) => given.get(name.toLowerCase()) === value.toLowerCase(),
  );
}

function kindOf(expr: Expr): string {
  if (expr.kind !== 'log') return 'metric';
  return expr.stages.length > 0 ? 'filter' : 'limited';
}

/** 32-bit FNV-1 of the UTF-8 bytes: http://www.isthe.com/chongo/tech/comp/fnv/ */
export function fnv1(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  return hash;
}
