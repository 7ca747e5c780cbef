/** Lambda function for the routes that read logs. */
import { createFunction } from './assemble.ts';

export const handler = createFunction('query', process.env);
