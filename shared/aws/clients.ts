/**
 * The clients of the two services: bounded connections, time-outs, and none of the SDK's own retries (caller.ts has
 * ours). Credentials come from where the SDK looks for them: the environment, the profile, the role of the function.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DYNAMODB_LIMITS, S3_LIMITS } from './caller.ts';

export interface ClientOptions {
  /** For example `eu-central-1`. Where absent: from the environment or the profile. */
  readonly region?: string;
  /** Another place than AWS, for example `http://localhost:4566`. */
  readonly endpoint?: string;
  /** Calls that run at once. */
  readonly maxSockets?: number;
}

const CONNECTION_TIMEOUT_MS = 2_000;
/** A connection on which nothing moves is dead; shorter than an attempt, so that the next one takes another. */
const SOCKET_TIMEOUT_MS = 10_000;
/** Signatures name a region; an emulator takes any. */
const REGION_OF_EMULATORS = 'us-east-1';

/**
 * Takes the place of the SDK's retries. One attempt alone (`maxAttempts`) would not do: they wrap errors of the system
 * in errors of their own, without a code. Other steps stand after this name, so it cannot be removed.
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
    // Waiting for "100 Continue" costs a round trip for each put, to save a body in the rare case of a taken key.
    expectContinueHeader: false,
    // Puts carry a CRC-32, which S3 checks. Ranged reads have none to check; chunks bring their own.
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
    // An undefined region or endpoint would hide what the environment says.
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
