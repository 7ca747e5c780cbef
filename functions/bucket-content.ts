/** Lambda function behind a custom resource: what a bucket of the stack holds when it is made, and that it is empty when it goes. */
import { createBucketContent } from './bucket-content-handler.ts';

export const handler = createBucketContent(process.env);
