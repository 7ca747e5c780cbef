/** Lambda function for subscriptions of CloudWatch Logs. */
import { createCloudWatchHandler } from './cloudwatch-logs-handler.ts';
import { createEventStore } from './event-store.ts';

export const handler = createCloudWatchHandler(createEventStore('cloudwatch-logs', process.env));
