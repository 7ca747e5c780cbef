/**
 * WebSocket API in the emulator: three routes and one function, which stores the event of `$connect` and sends
 * it to its client with the first message. So a test gets the ID of its connection, and an event of the
 * emulator.
 */
import { crc32 } from 'node:zlib';
import { CreateFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda';
import WebSocket from 'ws';
import { newName } from './places.ts';

export interface WebSocketApi {
  /** URL of the stage, where the management API is called. */
  readonly endpoint: string;
  connect(
    query: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Client>;
}

interface Client {
  readonly connectionId: string;
  /** Event of `$connect`. */
  readonly event: object;
  readonly socket: WebSocket;
  /** Messages after the first, which contained the event. */
  readonly messages: string[];
  /** Resolves when there are as many messages. */
  received(count: number): Promise<void>;
  readonly closed: Promise<number>;
}

const STAGE = 'live';
const REGION = 'us-east-1';
/** Refuses a client with the status that it requests. */
const CODE = `import json
EVENTS = {}
def handler(event, context):
    one = event['requestContext']
    if one['eventType'] == 'CONNECT':
        EVENTS[one['connectionId']] = event
        return {'statusCode': int((event.get('queryStringParameters') or {}).get('refuse', 200))}
    return {'statusCode': 200, 'body': json.dumps(EVENTS.pop(one['connectionId'], None))}
`;

export async function createWebSocketApi(emulator: string): Promise<WebSocketApi> {
  const name = newName();
  const lambda = new LambdaClient({ endpoint: emulator, region: REGION });
  const { FunctionArn } = await lambda.send(
    new CreateFunctionCommand({
      FunctionName: name,
      Runtime: 'python3.12',
      Handler: 'index.handler',
      Role: 'arn:aws:iam::000000000000:role/any',
      Code: { ZipFile: zipOf('index.py', CODE) },
    }),
  );
  lambda.destroy();
  const { apiId } = await post(emulator, '/v2/apis', { name, protocolType: 'WEBSOCKET' });
  const uri = `arn:aws:apigateway:${REGION}:lambda:path/2015-03-31/functions/${FunctionArn}/invocations`;
  const integration = { integrationType: 'AWS_PROXY', integrationUri: uri };
  const { integrationId } = await post(emulator, `/v2/apis/${apiId}/integrations`, integration);
  for (const routeKey of ['$connect', '$disconnect', '$default']) {
    await post(emulator, `/v2/apis/${apiId}/routes`, { routeKey, target: `integrations/${integrationId}` });
  }
  await post(emulator, `/v2/apis/${apiId}/stages`, { stageName: STAGE });
  const endpoint = `${emulator}/_aws/execute-api/${apiId}/${STAGE}`;
  return {
    endpoint,
    async connect(query, headers = {}) {
      const url = `${endpoint.replace('http', 'ws')}?${new URLSearchParams(query)}`;
      const socket = new WebSocket(url, { headers });
      const messages: string[] = [];
      let wake = (): void => undefined;
      socket.on('message', data => {
        messages.push((data as Buffer).toString());
        wake();
      });
      const closed = new Promise<number>(resolve => socket.once('close', resolve));
      await new Promise((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
      const received = async (count: number): Promise<void> => {
        while (messages.length < count) await new Promise<void>(resolve => (wake = resolve));
      };
      socket.send('{}');
      await received(1);
      const event = JSON.parse(messages.splice(0)[0]) as { requestContext: { connectionId: string } };
      const { connectionId } = event.requestContext;
      return { connectionId, event, socket, messages, received, closed };
    },
  };
}

/** The emulator distinguishes services by the scope of a signature, and does not verify it. */
const AUTHORIZATION = `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/apigateway/aws4_request, SignedHeaders=host, Signature=0`;

async function post(emulator: string, path: string, body: object): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', authorization: AUTHORIZATION };
  const answer = await fetch(emulator + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/** One file, stored as it is. */
function zipOf(name: string, text: string): Buffer {
  const [path, data] = [Buffer.from(name), Buffer.from(text)];
  // Version 2.0, no flags, stored, 1980-01-01; then checksum and lengths.
  const about = Buffer.alloc(26);
  about.writeUInt16LE(20, 0);
  about.writeUInt16LE(0x21, 8);
  about.writeUInt32LE(crc32(data), 10);
  about.writeUInt32LE(data.length, 14);
  about.writeUInt32LE(data.length, 18);
  about.writeUInt16LE(path.length, 22);
  const file = Buffer.concat([Buffer.from('PK\x03\x04'), about, path, data]);
  const modes = Buffer.alloc(14);
  modes.writeUInt32LE(0o100644 * 0x10000, 6);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), about, modes, path]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(file.length, 16);
  return Buffer.concat([file, entry, end]);
}
