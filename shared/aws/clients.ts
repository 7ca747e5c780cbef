/**
 * Creates the SDK's clients of S3 and DynamoDB with bounded connections, timeouts and no SDK retries
 * (caller.ts retries). Credentials come from the sources of the SDK: environment, profile, role of the
 * function. Objects and items are read and written without them (signed-requests.ts).
 */
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { DYNAMODB_LIMITS, S3_LIMITS } from './caller.ts';
import {
  type AwsCredentials,
  type ClientOptions,
  pathOf,
  REGION_OF_EMULATORS,
  type ServiceEndpoint,
  type ServiceTarget,
} from './service-endpoint.ts';

const CONNECTION_TIMEOUT_MS = 2_000;
/**
 * Timeout of a connection without traffic. It is shorter than an attempt, so the next attempt uses another
 * connection.
 */
const SOCKET_TIMEOUT_MS = 10_000;
/**
 * Replaces the SDK's retries. `maxAttempts: 1` is not enough: the SDK still wraps system errors in its own
 * errors, which have no code. Other middleware refers to this name, so it cannot be removed.
 */
const INSTEAD_OF_SDK_RETRIES = {
  name: 'retryMiddleware',
  step: 'finalizeRequest',
  priority: 'high',
  override: true,
} as const;

export function createS3Client(options: ClientOptions = {}): S3Client {
  const client = new S3Client({
    ...commonOptions(options, S3_LIMITS.maxRunning),
    // A bucket in the host name needs a name server that knows it.
    forcePathStyle: options.endpoint !== undefined,
    // Waiting for "100 Continue" costs a round trip for each put. It saves a body only in the rare case of an
    // existing key.
    expectContinueHeader: false,
    // S3 checks the CRC-32 of a put. Ranged reads have none to check; chunks contain their own checksums.
    requestChecksumCalculation: 'WHEN_SUPPORTED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  client.middlewareStack.add(next => args => next(args), INSTEAD_OF_SDK_RETRIES);
  return client;
}

export function createDynamoDbClient(options: ClientOptions = {}): DynamoDBClient {
  const client = new DynamoDBClient(commonOptions(options, DYNAMODB_LIMITS.maxRunning));
  client.middlewareStack.add(next => args => next(args), INSTEAD_OF_SDK_RETRIES);
  return client;
}

function commonOptions({ region, endpoint, maxSockets }: ClientOptions, defaultSockets: number) {
  const agent = { keepAlive: true, maxSockets: maxSockets ?? defaultSockets };
  const signingRegion = endpoint === undefined ? region : (region ?? REGION_OF_EMULATORS);
  return {
    // An undefined region or endpoint would hide the value of the environment.
    ...(signingRegion === undefined ? {} : { region: signingRegion }),
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}

/**
 * Returns the endpoint that the SDK would send a request to. It prepares a request without sending it. Throws if
 * the SDK finds no region, or if it would sign in another way.
 */
export async function serviceOfSdk(target: ServiceTarget, options: ClientOptions): Promise<ServiceEndpoint> {
  let request: PreparedRequest | undefined;
  let scheme: AuthScheme | undefined;
  const capture =
    (_next: unknown, context: { readonly endpointV2?: unknown }) =>
    async (args: { readonly request: unknown }) => {
      request = args.request as PreparedRequest;
      const { properties } = (context.endpointV2 ?? {}) as { properties?: { authSchemes?: AuthScheme[] } };
      scheme = properties?.authSchemes?.[0];
      return { response: {}, output: { $metadata: {} } };
    };
  const at = { step: 'build', priority: 'low' } as const;
  let config: S3Client['config'] | DynamoDBClient['config'];
  if ('bucket' in target) {
    const client = createS3Client(options);
    client.middlewareStack.add(capture as never, at);
    await client.send(new HeadBucketCommand({ Bucket: target.bucket }));
    config = client.config;
  } else {
    const client = createDynamoDbClient(options);
    client.middlewareStack.add(capture as never, at);
    await client.send(new DescribeTableCommand({ TableName: target.table }));
    config = client.config;
  }
  if (request === undefined) throw new Error('the SDK prepared no request');
  if (scheme !== undefined && scheme.name !== 'sigv4')
    throw new Error(`signatures of type ${scheme.name} are not supported; use a bucket of one region`);
  const { protocol, hostname, port, path } = request;
  const endpoint = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
  return {
    endpoint,
    path: pathOf(endpoint),
    region: scheme?.signingRegion ?? (await config.region()),
    // The SDK keeps credentials, and renews them before they expire.
    credentials: () => config.credentials() as Promise<AwsCredentials>,
  };
}

/** The parts of a request of the SDK that name its endpoint. */
interface PreparedRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}

interface AuthScheme {
  readonly name: string;
  readonly signingRegion?: string;
}
