import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import type { HttpRequest } from '../../shared/server/http/message.ts';
import { createQueryTimeout } from '../../shared/server/http/query-timeout.ts';
import { text } from '../../shared/server/http/respond.ts';
import { createRouter, defineRoutes } from '../../shared/server/http/routes.ts';
import { request, tenants } from './request.ts';

const clock = virtualClock();
const SECONDS: Readonly<Record<string, bigint>> = { slow: 300n, quick: 5n, never: 0n };
const withTimeout = createQueryTimeout(clock, tenant => ({
  ...DEFAULT_LIMITS,
  queryTimeoutNs: (SECONDS[tenant] ?? 60n) * 1_000_000_000n,
}));

describe('timeout of a query', () => {
  const timeoutMs = (given: Partial<HttpRequest>, cost: 'query' | 'push' = 'query', isStatus = false) =>
    withTimeout({ cost, isStatus }, request(given), async ({ deadlineMs }) =>
      deadlineMs === undefined ? 0 : deadlineMs - clock.nowMs(),
    );

  test.each([
    [['slow'], 300],
    [['quick', 'slow'], 5],
    [['never'], 0],
    [['never', 'slow'], 300],
    [['other'], 60],
  ])('the timeout for tenants %j is %d seconds', async (ids, seconds) => {
    expect(await timeoutMs({ tenants: tenants(...ids) })).toBe(seconds * 1000);
  });

  test('does not exist without tenants, for pushes and for status endpoints', async () => {
    expect(await timeoutMs({})).toBe(0);
    expect(await timeoutMs({ tenants: tenants('quick') }, 'push')).toBe(0);
    expect(await timeoutMs({ tenants: tenants('quick') }, 'query', true)).toBe(0);
  });

  test('never extends the deadline of the adapter', async () => {
    const deadlineMs = clock.nowMs() + 1_000;
    expect(await timeoutMs({ tenants: tenants('quick'), deadlineMs })).toBe(1_000);
    expect(await timeoutMs({ tenants: tenants('quick'), deadlineMs: deadlineMs + 60_000 })).toBe(5_000);
  });

  test('leaves no sleeper when the query ends first', () => expect(clock.sleepers).toBe(0));
});

describe('a dispatcher with timeouts', () => {
  const signals: AbortSignal[] = [];
  const dispatch = createDispatcher({
    router: createRouter(
      defineRoutes<undefined>([
        {
          methods: ['GET'],
          path: '/wait',
          component: 'all',
          cost: 'query',
          errors: 'query',
          access: { kind: 'open' },
          handler: async (_, { signal }) => {
            signals.push(signal);
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
            return text('never');
          },
        },
      ]),
    ),
    context: undefined,
    guard: { admit: async (_, asked) => ({ ...asked, tenants: tenants('quick') }) },
    log: { error: () => undefined },
    compress: false,
    withTimeout,
  });

  test('answers 504 when the timeout of the tenant has passed', async () => {
    const answer = dispatch(request({ path: '/wait' }));
    await clock.advance(4_999);
    expect(signals[0].aborted).toBe(false);
    await clock.advance(1);
    expect(signals[0].reason).toMatchObject({ name: 'TimeoutError', message: 'over 5000 ms' });
    expect(await answer).toMatchObject({ status: 504 });
  });

  test('aborts the query when the client disconnects', async () => {
    const client = new AbortController();
    const answer = dispatch(request({ path: '/wait', signal: client.signal }));
    await clock.advance(1);
    client.abort(new DOMException('the client disconnected', 'AbortError'));
    expect(await answer).toMatchObject({ status: 499 });
    expect(clock.sleepers).toBe(0);
  });
});
