/** Signatures of many requests by one signer are those of the signer of the SDK. */
import { expect, test } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentials } from '../../shared/aws/service-endpoint.ts';
import { canonicalQuery, createSigner } from '../../shared/aws/signature.ts';
import { Sha256 } from './support/sha256.ts';

const REGION = 'eu-central-1';
const FIRST: AwsCredentials = { accessKeyId: 'first', secretAccessKey: 'a', sessionToken: 'session' };
const SECOND: AwsCredentials = { accessKeyId: 'second', secretAccessKey: 'b' };
const MIDNIGHT_MS = Date.UTC(2026, 10, 27);

interface Sent {
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly nowMs: number;
  readonly credentials: AwsCredentials;
}

async function bySdk(service: string, { path = '/', query = {}, headers = {}, nowMs, credentials }: Sent) {
  const isS3 = service === 's3';
  const signer = new SignatureV4({
    service,
    region: REGION,
    credentials,
    sha256: Sha256,
    uriEscapePath: !isS3,
    applyChecksum: isS3,
  });
  const all = { host: 'localhost', ...headers };
  const { 'user-agent': _, range: __, ...signed } = all as Record<string, string>;
  const request = await signer.sign(
    { method: 'POST', protocol: 'http:', hostname: 'localhost', path, query, headers: signed, body: 'body' },
    { signingDate: new Date(nowMs) },
  );
  return request.headers.authorization;
}

// The key is prepared once, so a signature must not use the one of another day, secret or service.
test.each(['s3', 'dynamodb'])('%s: days, credentials, paths, queries and headers', async service => {
  const sign = createSigner(service, REGION);
  const requests: Sent[] = [
    { nowMs: MIDNIGHT_MS - 1, credentials: FIRST },
    { nowMs: MIDNIGHT_MS, credentials: FIRST },
    { nowMs: MIDNIGHT_MS + 999, credentials: SECOND },
    { nowMs: MIDNIGHT_MS + 1_000, credentials: FIRST },
    { nowMs: MIDNIGHT_MS - 1_000, credentials: FIRST },
    { nowMs: MIDNIGHT_MS, credentials: { ...FIRST, secretAccessKey: 'renewed' } },
    { nowMs: MIDNIGHT_MS, credentials: SECOND, path: '/a/b%20c/%C3%A4%2B' },
    { nowMs: MIDNIGHT_MS, credentials: SECOND, query: { b: "x '(*)!", a: 'ä&=', c: '' } },
    {
      nowMs: MIDNIGHT_MS,
      credentials: SECOND,
      headers: { 'x-amz-target': ' a   b ', 'user-agent': 'logboom', range: 'bytes=0-1' },
    },
  ];
  for (const sent of requests) {
    const { path = '/', query = {}, headers = {}, nowMs, credentials } = sent;
    const signed = sign(
      {
        method: 'POST',
        path,
        query: canonicalQuery(query),
        headers: { host: 'localhost', ...headers },
        body: 'body',
        nowMs,
      },
      credentials,
    );
    expect(signed.authorization).toBe(await bySdk(service, sent));
    expect(signed).toMatchObject(headers);
    expect(signed['x-amz-security-token']).toBe(credentials.sessionToken);
  }
});
