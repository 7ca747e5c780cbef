/** Lambda function that a schedule calls every hour to export closed days. */
import { createExportDays } from './export-days-handler.ts';

export const handler = createExportDays(process.env);
