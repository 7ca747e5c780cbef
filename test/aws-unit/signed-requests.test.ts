/** Signatures are compared with those of the SDK's signer. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import { createDynamoDbRequests } from '../../shared/aws/dynamodb-requests.ts';
import { classify } from '../../shared/aws/errors.ts';
import { createS3Requests } from '../../shared/aws/s3-requests.ts';
import { createSignedRequests } from '../../shared/aws/signed-requests.ts';
import { errorOf, useTestCredentials } from './support/limits.ts';
import {
  dynamoAnswer,
  dynamoError,
  type ScriptedServer,
  s3Error,
  startScriptedServer,
} from './support/scripted-server.ts';
import { Sha256 } from './support/sha256.ts';

const { signal } = new AbortController();
let server: ScriptedServer;
beforeAll(async () => {
  useTestCredentials();
  process.env.AWS_SESSION_TOKEN = 'session';
  server = await startScriptedServer();
});
afterAll(async () => {
  delete process.env.AWS_SESSION_TOKEN;
  await server.close();
});

/** Signs a received request with the signer of the SDK. */
async function signatureOfSdk(service: string): Promise<string> {
  const [{ method, url, headers, body }] = server.seen;
  const [, names] = /SignedHeaders=([^,]+)/.exec(headers.authorization!)!;
  const signer = new SignatureV4({
    service,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test', sessionToken: 'session' },
    sha256: Sha256,
    // S3 signs paths as they are sent.
    uriEscapePath: service !== 's3',
    applyChecksum: service === 's3',
  });
  const signed = names.split(';').filter(name => name !== 'x-amz-date');
  const [, date] = /^(\d{8}T\d{6}Z)$/.exec(headers['x-amz-date'] as string)!;
  const iso = date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
  const request = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: '127.0.0.1',
      path: url,
      query: {},
      headers: Object.fromEntries(signed.map(name => [name, String(headers[name])])),
      body: Buffer.from(body, 'latin1'),
    },
    { signingDate: new Date(iso), unsignableHeaders: new Set() },
  );
  return request.headers.authorization;
}

describe('signatures are those of the SDK', () => {
  test.each(['k', 'a/b/c.lbc', "tenant 1/ä+%&=?#'()*!~._-/ö", 'a//b'])(
    'a request for the key %j has the signature of the SDK',
    async key => {
      const requests = createS3Requests('logs', { endpoint: server.url });
      server.script(
        { status: 200 },
        { status: 200 },
        { status: 206, body: 'x' },
        { status: 200 },
        { status: 204 },
      );
      await requests.put(key, Buffer.from('body'), 'id', signal);
      expect(server.seen[0].headers.authorization).toBe(await signatureOfSdk('s3'));
      for (const send of [
        () => requests.put(key, Buffer.alloc(0), undefined, signal),
        async () => (await requests.get(key, 'bytes=0-0', signal)).body.destroy(),
        () => requests.head(key, signal),
        () => requests.delete(key, signal),
      ]) {
        server.script({ status: 200 });
        await send();
        expect(server.seen[0].headers.authorization).toBe(await signatureOfSdk('s3'));
        expect(server.seen[0].headers['x-amz-security-token']).toBe('session');
      }
      requests.destroy();
    },
  );

  test('a request to DynamoDB has the signature of the SDK', async () => {
    const requests = createDynamoDbRequests('logs', { endpoint: server.url });
    server.script(dynamoAnswer({ Item: { pk: { S: 'ä' } } }));
    expect(await requests.send('GetItem', { Key: { pk: { S: 'ö' } } }, signal)).toEqual({
      Item: { pk: { S: 'ä' } },
    });
    expect(server.seen[0].headers.authorization).toBe(await signatureOfSdk('dynamodb'));
    requests.destroy();
  });
});

describe('errors', () => {
  test('have the code, message, status and fields of the service', async () => {
    const s3 = createS3Requests('logs', { endpoint: server.url });
    const dynamoDb = createDynamoDbRequests('logs', { endpoint: server.url });
    server.script(s3Error(503, 'SlowDown'), { status: 502, body: '<html>bad gateway</html>' });
    expect(await errorOf(s3.delete('k', signal))).toMatchObject({
      name: 'SlowDown',
      message: 'said the test',
      $metadata: { httpStatusCode: 503 },
    });
    expect(await errorOf(s3.delete('k', signal))).toMatchObject({
      name: 'UnknownError',
      $metadata: { httpStatusCode: 502 },
    });
    const reasons = [{ Code: 'None' }, { Code: 'TransactionConflict' }];
    server.script(
      dynamoError('TransactionCanceledException', { CancellationReasons: reasons }),
      { status: 500, body: 'not JSON' },
      { status: 200, body: '{"Item":' },
    );
    expect(await errorOf(dynamoDb.send('PutItem', {}, signal))).toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: reasons,
      $metadata: { httpStatusCode: 400 },
    });
    expect(await errorOf(dynamoDb.send('PutItem', {}, signal))).toMatchObject({ name: 'UnknownError' });
    expect(await errorOf(dynamoDb.send('GetItem', {}, signal))).toBeInstanceOf(SyntaxError);
    s3.destroy();
    dynamoDb.destroy();
  });

  test('correct the clock for the next request', async () => {
    const requests = createDynamoDbRequests('logs', { endpoint: server.url });
    const serverMs = Math.floor(Date.now() / 1000) * 1000 + 3600_000;
    const skewed = dynamoError('InvalidSignatureException', {});
    const headers = { ...skewed.headers, date: new Date(serverMs).toUTCString() };
    server.script({ ...skewed, headers }, dynamoAnswer({}), { ...skewed, headers });
    const error = await errorOf(requests.send('GetItem', {}, signal));
    expect(classify(error)).toEqual({ kind: 'transient', mayHaveHappened: false });
    await requests.send('GetItem', {}, signal);
    const [before, after] = server.seen.map(({ headers }) => headers['x-amz-date'] as string);
    expect(before.slice(0, 13)).not.toBe(after.slice(0, 13));
    // The clock is right now, so another refusal has another cause.
    expect(classify(await errorOf(requests.send('GetItem', {}, signal))).kind).toBe('final');
    requests.destroy();
  });

  test('look a missing endpoint up again', async () => {
    let lookups = 0;
    const requests = createSignedRequests({
      service: 's3',
      maxSockets: 1,
      errorOf: () => ({}),
      find: async () => {
        if (lookups++ === 0) throw new Error('no credentials yet');
        return {
          endpoint: new URL(server.url),
          path: '',
          region: 'us-east-1',
          credentials: () => ({ accessKeyId: 'a', secretAccessKey: 'b' }),
        };
      },
    });
    const send = () => requests.send({ method: 'GET', path: '/k', signal });
    server.script({ status: 200 });
    expect((await errorOf(send())).message).toBe('no credentials yet');
    (await send()).resume();
    requests.destroy();
  });

  test('a connection that ends inside a response is an open outcome', async () => {
    const dynamoDb = createDynamoDbRequests('logs', { endpoint: server.url });
    server.script({ ...dynamoAnswer({ Item: { pk: { S: 'a long key' } } }), cutAfterBytes: 6 });
    const error = await errorOf(dynamoDb.send('PutItem', {}, signal));
    expect(classify(error)).toEqual({ kind: 'transient', mayHaveHappened: true });
    dynamoDb.destroy();
  });

  test('a request can be aborted before it is sent and while its response arrives', async () => {
    let connections = 0;
    const stalling: Server = createServer(socket => {
      connections++;
      socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc');
    });
    stalling.listen(0, '127.0.0.1');
    await once(stalling, 'listening');
    const s3 = createS3Requests('logs', {
      endpoint: `http://127.0.0.1:${(stalling.address() as AddressInfo).port}`,
    });
    const early = AbortSignal.abort(new Error('too late'));
    expect((await errorOf(s3.delete('k', early))).message).toBe('too late');
    const controller = new AbortController();
    const { body } = await s3.get('k', undefined, controller.signal);
    controller.abort(new Error('not wanted'));
    const read = async () => {
      for await (const _ of body);
    };
    await expect(read()).rejects.toThrow();
    expect(connections).toBe(1);
    stalling.close();
    s3.destroy();
  });

  test('the error of an aborted request ends its connection', async () => {
    const silent: Server = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const requests = createS3Requests('logs', {
      endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    });
    const controller = new AbortController();
    const [failed] = [errorOf(requests.head('k', controller.signal))];
    const [socket] = await once(silent, 'connection');
    controller.abort();
    expect((await failed).name).toBe('AbortError');
    if (!socket.closed) await once(socket.resume(), 'close');
    silent.close();
    requests.destroy();
  });
});
