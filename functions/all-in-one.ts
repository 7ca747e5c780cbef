/** Lambda function for all routes and all jobs, behind an address of its own. */
import { createAllInOneFunction } from './assemble.ts';

export const handler = createAllInOneFunction(process.env);
