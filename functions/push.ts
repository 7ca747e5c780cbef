/** Lambda function for the routes that store logs. */
import { createFunction } from './assemble.ts';

export const handler = createFunction('push', process.env);
