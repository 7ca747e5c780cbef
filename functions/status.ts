/** Lambda function for routes that need no stored data. */
import { createFunction } from './assemble.ts';

export const handler = createFunction('status', process.env);
