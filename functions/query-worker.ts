/** Lambda function for parts of queries; the query function calls it. */
import { createQueryWorker } from './query-worker-handler.ts';

export const handler = createQueryWorker(process.env);
