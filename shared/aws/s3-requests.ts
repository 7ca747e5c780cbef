/** Requests for objects of one bucket. Listings use the SDK (s3-listing.ts), because few processes list. */
import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import type { ListObjectsV2CommandInput, ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { lazily } from '../base/model/lazily.ts';
import { S3_LIMITS } from './caller.ts';
import { findService } from './find-service.ts';
import type { ClientOptions } from './service-endpoint.ts';
import { encoded } from './signature.ts';
import { createSignedRequests, type ReportedError, wholeAnswer } from './signed-requests.ts';

/** Response of a GET, before its body is read. */
export interface ObjectAnswer {
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
  /** Declared length of the body in bytes. */
  readonly length: number | undefined;
  /** Value of the header `content-range`. */
  readonly range: string | undefined;
}

export interface ObjectHead {
  /** Declared size of the object in bytes. */
  readonly size: number | undefined;
  /** Metadata that identifies the put that created the object. */
  readonly putId: string | undefined;
}

type ListInput = Omit<ListObjectsV2CommandInput, 'Bucket'>;

/** Errors are ServiceError, with the codes of S3, or errors of the connection. */
export interface S3Requests {
  /** @param putId stored with the object; undefined overwrites what is there, otherwise the key must be free */
  put(key: string, body: Uint8Array, putId: string | undefined, signal: AbortSignal): Promise<void>;
  /** @param range value of the header `range` */
  get(key: string, range: string | undefined, signal: AbortSignal): Promise<ObjectAnswer>;
  head(key: string, signal: AbortSignal): Promise<ObjectHead>;
  delete(key: string, signal: AbortSignal): Promise<void>;
  list(input: ListInput, signal: AbortSignal): Promise<ListObjectsV2CommandOutput>;
  destroy(): void;
}

/** Metadata key that identifies the put that created the object. */
const PUT_ID = 'x-amz-meta-put-id';
const CODE = /<Code>([^<]*)<\/Code>/;
const MESSAGE = /<Message>([^<]*)<\/Message>/;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

export function createS3Requests(bucket: string, options: ClientOptions = {}): S3Requests {
  const { maxSockets = S3_LIMITS.maxRunning } = options;
  const { send, destroy } = createSignedRequests({
    service: 's3',
    find: () => findService({ bucket }, options),
    maxSockets,
    errorOf: reportedError,
  });
  let closeListing: () => void = () => undefined;
  const listing = lazily(async () => {
    const { createListing } = await import('./s3-listing.ts');
    const { list, close } = createListing(bucket, options);
    closeListing = close;
    return list;
  });
  return {
    async put(key, bytes, putId, signal) {
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const headers = {
        'content-type': 'application/octet-stream',
        'content-length': String(body.byteLength),
        // S3 checks it. Ranged reads have none to check; chunks contain their own checksums.
        'x-amz-checksum-crc32': checksumOf(body),
        ...(putId === undefined ? {} : { 'if-none-match': '*', [PUT_ID]: putId }),
      };
      await wholeAnswer(await send({ method: 'PUT', path: pathOf(key), headers, body, signal }));
    },

    async get(key, range, signal) {
      const headers: Record<string, string> = range === undefined ? {} : { range };
      const answer = await send({ method: 'GET', path: pathOf(key), headers, signal });
      return { body: answer, length: lengthOf(answer), range: answer.headers['content-range'] };
    },

    async head(key, signal) {
      const answer = await send({ method: 'HEAD', path: pathOf(key), signal });
      answer.resume();
      const putId = answer.headers[PUT_ID];
      return { size: lengthOf(answer), putId: typeof putId === 'string' ? putId : undefined };
    },

    async delete(key, signal) {
      await wholeAnswer(await send({ method: 'DELETE', path: pathOf(key), signal }));
    },

    async list(input, signal) {
      return (await listing())(input, signal);
    },

    destroy() {
      destroy();
      closeListing();
    },
  };
}

function pathOf(key: string): string {
  return `/${key.split('/').map(encoded).join('/')}`;
}

function checksumOf(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}

function lengthOf({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Reads an error of S3. A response to HEAD has none. */
function reportedError(_answer: IncomingMessage, body: string): ReportedError {
  return { code: textOf(CODE, body), message: textOf(MESSAGE, body) };
}

function textOf(element: RegExp, body: string): string | undefined {
  return element.exec(body)?.[1].replace(/&(\w+);/g, (entity, name) => ENTITIES[name] ?? entity);
}
