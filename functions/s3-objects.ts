/** Lambda function that stores log files created in a bucket. */
import { createEventStore } from './event-store.ts';
import { createS3ObjectsHandler } from './s3-objects-handler.ts';
import { createObjectReader } from './s3-reader.ts';

const { AWS_ENDPOINT_URL, LOGBOOM_ENDPOINT = AWS_ENDPOINT_URL } = process.env;

export const handler = createS3ObjectsHandler(
  createEventStore('s3-objects', process.env),
  createObjectReader({ endpoint: LOGBOOM_ENDPOINT || undefined }),
);
