/**
 * Creates the S3 and DynamoDB clients with bounded connections, timeouts and no SDK retries (caller.ts
 * retries). Credentials come from the sources of the SDK: environment, profile, role of the function.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DYNAMODB_LIMITS, S3_LIMITS } from './caller.ts';

export interface ClientOptions {
  /** Region, for example `eu-central-1`. Default: from the environment or the profile. */
  readonly region?: string;
  /** Endpoint other than AWS, for example `http://localhost:4566`. */
  readonly endpoint?: string;
  /** Maximum number of concurrent calls. */
  readonly maxSockets?: number;
}

const CONNECTION_TIMEOUT_MS = 2_000;
/**
 * Timeout of a connection without traffic. It is shorter than an attempt, so the next attempt uses another
 * connection.
 */
const SOCKET_TIMEOUT_MS = 10_000;
/** Region for signatures when an emulator is used. Emulators accept any region. */
const REGION_OF_EMULATORS = 'us-east-1';

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
  const place = endpoint === undefined ? region : (region ?? REGION_OF_EMULATORS);
  return {
    // An undefined region or endpoint would hide the value of the environment.
    ...(place === undefined ? {} : { region: place }),
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
