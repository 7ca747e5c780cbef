import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCanary } from '../../functions/canary-handler.ts';
import { signedHeaders } from '../../functions/sign-request.ts';
import { canonicalQuery } from '../../shared/aws/signature.ts';
import { runCanaryRound } from '../../shared/server/canary/canary-round.ts';
import type { CanaryAnswer, CanarySend } from '../../shared/server/canary/requests.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

test.each<[string, Record<string, string>, string]>([
  // Published by AWS as examples of its signatures: get-vanilla, and get-vanilla-query-order-key-case.
  ['without a query', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'with a query in another order',
    { Param2: 'value2', Param1: 'value1' },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
])('a request is signed as AWS does it, %s', (_, query, signature) => {
  const headers = signedHeaders(
    {
      method: 'GET',
      path: '/',
      query,
      host: 'example.amazonaws.com',
      body: '',
      service: 'service',
      region: 'us-east-1',
      nowMs: Date.UTC(2015, 7, 30, 12, 36, 0),
    },
    credentials,
  );
  expect(headers).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
      `SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

test('a query is signed in the form in which it is sent', () => {
  const text = canonicalQuery({ query: "{a='b'} |= `(x)!*`", limit: '5' });
  expect(new URLSearchParams(text).get('query')).toBe("{a='b'} |= `(x)!*`");
  expect(text).not.toMatch(/['()!*]/);
});

describe('a round', () => {
  const nowMs = () => 1_800_000_000_000;
  const answerOf = (lines: readonly string[]): CanaryAnswer => ({
    status: 200,
    text: JSON.stringify({ data: { result: [{ values: lines.map(line => ['1', line]) }] } }),
  });
  const linesOf = (round: string, count = 20) =>
    Array.from({ length: count }, (_, i) => `canary ${round} ${i}`);
  /** A store with given responses. */
  const store =
    (fresh: readonly string[], hour: readonly string[], pushed = 204): CanarySend =>
    async ({ method, query }) => {
      if (method === 'POST') return { status: pushed, text: 'told' };
      return answerOf(query!.query.includes('|=') ? fresh : hour);
    };
  const run = (send: CanarySend) => runCanaryRound({ send, nowMs, round: 'aa' });

  test.each<[string, CanarySend, object]>([
    [
      'all is there',
      store(linesOf('aa'), [...linesOf('aa'), ...linesOf('bb')]),
      { ok: true, missing: 0, repeated: 0, rounds: 2 },
    ],
    ['nothing came back', store([], []), { ok: false, missing: 20 }],
    ['some are missing', store(linesOf('aa', 15), linesOf('aa', 15)), { ok: false, missing: 5 }],
    ['one came twice', store([...linesOf('aa'), 'canary aa 3'], []), { ok: false, repeated: 1 }],
    [
      'an older round lost lines',
      store(linesOf('aa'), linesOf('bb', 19)),
      { ok: false, missing: 1, repeated: 0 },
    ],
    ['the push is refused', store([], [], 429), { ok: false, failure: 'the push got status 429: told' }],
    [
      'there is no answer',
      async () => {
        throw new Error('cut');
      },
      { ok: false, failure: 'cut' },
    ],
  ])('%s', async (_, send, report) => {
    expect(await run(send)).toMatchObject(report);
  });

  test('a push that was not acknowledged has no time', async () => {
    expect(await run(store([], [], 500))).not.toHaveProperty('pushMs');
  });
});

describe('against the local gateway', () => {
  let local: TestStore;
  beforeAll(async () => {
    local = await startStore('auth_enabled: true');
  });
  afterAll(() => local?.stop());

  test('rounds read their pushed entries, and report the result in embedded metrics', async () => {
    const printed: string[] = [];
    const run = createCanary({
      environment: { LOGBOOM_URL: local.url, LOGBOOM_TENANT: 'canary', AWS_LAMBDA_FUNCTION_NAME: 'c' },
      nowMs: Date.now,
      print: line => printed.push(line),
    });
    expect(await run()).toMatchObject({ ok: true, rounds: 1, missing: 0, repeated: 0 });
    expect(await run()).toMatchObject({ ok: true, rounds: 2 });
    const [told] = printed.map(line => JSON.parse(line));
    expect(told).toMatchObject({
      _aws: { CloudWatchMetrics: [{ Namespace: 'Logboom', Dimensions: [['FunctionName']] }] },
      FunctionName: 'c',
      CanarySuccess: 1,
      CanaryMissing: 0,
    });
    const { Metrics } = told._aws.CloudWatchMetrics[0];
    for (const { Name } of Metrics as { Name: string }[]) expect(told[Name]).toEqual(expect.any(Number));
  });

  test('reports a store that refuses, and the function does not fail', async () => {
    const printed: string[] = [];
    const run = createCanary({
      environment: { LOGBOOM_URL: local.url, LOGBOOM_TENANT: 'a|b' },
      nowMs: Date.now,
      print: line => printed.push(line),
    });
    expect(await run()).toMatchObject({
      ok: false,
      failure: expect.stringMatching(/^the push got status 4/),
    });
    expect(JSON.parse(printed[0]).CanarySuccess).toBe(0);
  });
});

test('reads a token for each round; signs requests for the host of the API', async () => {
  const seen: { url?: string; authorization?: string; target?: string }[] = [];
  const server = createServer((request, response) => {
    const { authorization, 'x-amz-target': target } = request.headers;
    seen.push({ url: request.url, authorization, target: target?.toString() });
    if (target !== undefined) response.end(JSON.stringify({ SecretString: 'lbt_secret\n' }));
    else response.writeHead(403).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const environment = {
      LOGBOOM_URL: url,
      LOGBOOM_TENANT: 'canary',
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    };
    const runWith = (more: Record<string, string>) =>
      createCanary({ environment: { ...environment, ...more }, nowMs: Date.now, print: () => undefined })();
    await runWith({ LOGBOOM_TOKEN_SECRET: 'arn:aws:secretsmanager:eu-central-1:1:secret:a' });
    expect(seen.map(({ target }) => target)).toEqual(['secretsmanager.GetSecretValue', undefined]);
    expect(seen[1].authorization).toBe('Bearer lbt_secret');
    await runWith({ LOGBOOM_SIGNING_HOST: 'api.example.com' });
    expect(seen[2].authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/eu-central-1\/execute-api\//,
    );
  } finally {
    await new Promise(resolve => server.close(resolve));
  }
});
