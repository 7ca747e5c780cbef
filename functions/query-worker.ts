/** Lambda function for query tasks, called by the query function. */
import { createQueryWorker } from './query-worker-handler.ts';

export const handler = createQueryWorker(process.env);
