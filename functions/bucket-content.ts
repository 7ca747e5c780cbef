/**
 * Lambda function of a custom resource that fills a bucket of the stack on creation and empties it on
 * deletion.
 */
import { createBucketContent } from './bucket-content-handler.ts';

export const handler = createBucketContent(process.env);
