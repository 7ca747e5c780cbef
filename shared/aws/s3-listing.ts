/** Lists the keys of a bucket through the SDK, which parses the XML of S3. */
import {
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3';
import { createS3Client } from './clients.ts';
import type { ClientOptions } from './service-endpoint.ts';

interface ListingClient {
  list(
    input: Omit<ListObjectsV2CommandInput, 'Bucket'>,
    abortSignal: AbortSignal,
  ): Promise<ListObjectsV2CommandOutput>;
  close(): void;
}

export function createListing(bucket: string, options: ClientOptions): ListingClient {
  const client = createS3Client(options);
  return {
    list: (input, abortSignal) =>
      client.send(new ListObjectsV2Command({ ...input, Bucket: bucket }), { abortSignal }),
    close: () => client.destroy(),
  };
}
