/** Ring pages: who shares the store, by component (contract, 4; wire-format reference, 7.12). */
import { messageOf } from '../../model/errors.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { json, text } from '../respond.ts';
import { ringJson, ringPage } from '../ring-page.ts';
import type { Handler } from '../routes.ts';

const HTML_TYPE = 'text/html; charset=utf-8';

/** What the ring of a component is asked: GET shows it, POST with `forget` takes a member out. */
export function ringOf(component: string, noteOf?: (context: HttpContext) => string): Handler<HttpContext> {
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
    const shown = (await members.list()).filter(({ components }) => components.includes(component));
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
