/** Lambda function for all routes and all jobs, behind its own function URL. */
import { createAllInOneFunction } from './assemble.ts';

export const handler = createAllInOneFunction(process.env);
