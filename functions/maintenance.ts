/** Lambda function for what keeps the store in shape: its routes, and the ticks of its schedules. */
import { createMaintenanceFunction } from './assemble.ts';

export const handler = createMaintenanceFunction(process.env);
