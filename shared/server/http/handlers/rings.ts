/** Ring pages: members that share the store, by component (docs/dev/wire-format.md#ring-pages). */

import { messageOf } from '../../../base/model/errors.ts';
import type { Member } from '../../../storage/catalog/members.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { json, text } from '../respond.ts';
import { ringJson, ringPage } from '../ring-page.ts';
import type { Handler } from '../routes.ts';

const HTML_TYPE = 'text/html; charset=utf-8';

interface RingPage {
  /** True if the member is in this ring. */
  readonly isIn: (member: Member, context: HttpContext) => boolean;
  /** Text above the table; empty for none. */
  readonly noteOf?: (context: HttpContext) => string;
}

/** Handler for the ring of a component: GET shows it, POST with `forget` removes a member. */
export function ringOf(component: string, noteOf?: RingPage['noteOf']): Handler<HttpContext> {
  return ring({ isIn: ({ components }) => components.includes(component), noteOf });
}

function ring({ isIn, noteOf }: RingPage): Handler<HttpContext> {
  return async (context, request) => {
    const { members, clock } = context;
    const forgotten = request.method === 'POST' ? param(parseParams(request), 'forget') : '';
    if (forgotten !== '') {
      try {
        await members.remove(forgotten);
      } catch (error) {
        return text(`error forgetting instance '${forgotten}': ${messageOf(error)}\n`, 500);
      }
      return { status: 302, headers: { location: '#' }, body: '' };
    }
    const shown = (await members.list()).filter(member => isIn(member, context));
    const asJson = (request.headers.accept ?? '').includes('application/json');
    if (asJson) return json(ringJson(shown, clock.nowMs()));
    return text(ringPage(shown, clock.nowMs(), noteOf?.(context) ?? ''), 200, HTML_TYPE);
  };
}

export const distributorRing = ringOf('distributor', ({ config }) =>
  config.limits.ingestionRateStrategy === 'local'
    ? 'Not running with Global Rating Limit - ring not being used by the Distributor.'
    : '',
);

/** Leases assign rule groups, not a ring: each ruler may evaluate each group. */
export const rulerRing = ringOf('ruler', () => 'Ruler running with shards disabled');

/** There is no query scheduler, because query frontends assign their own tasks. */
export const schedulerRing = ringOf(
  'query-frontend',
  () => 'Query frontends schedule their own queries. This page lists the query frontends.',
);

/** Processes that accept pushes mine patterns, because they write the chunks. */
export const patternRing = ring({
  isIn: ({ components }, { config }) => config.patternIngester.enabled && components.includes('ingester'),
  noteOf: ({ config }) =>
    config.patternIngester.enabled
      ? 'Ingesters mine patterns when they write chunks. This page lists the ingesters.'
      : 'Patterns are not mined: pattern_ingester.enabled is false.',
});

export const partitionRing = ring({
  isIn: () => false,
  noteOf: () => 'There are no partitions: pushes are not written to Kafka.',
});

export const memberList = ring({
  isIn: () => true,
  noteOf: () => 'Members register in the catalog, without gossip. This page lists all members.',
});
