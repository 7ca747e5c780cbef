/** Lambda function for maintenance routes and for the scheduled jobs. */
import { createMaintenanceFunction } from './assemble.ts';

export const handler = createMaintenanceFunction(process.env);
