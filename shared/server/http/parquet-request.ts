/**
 * Who asks for Parquet, and the answers where there is none (docs/dev/wire-format.md#parquet). Only the two query endpoints
 * have a table to offer; every other endpoint of queries refuses, and a handler of one calls `refuseParquet`.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import type { FrontendConfig } from '../admin/config-fields.ts';
import type { HttpRequest } from './message.ts';

export const PARQUET_TYPE = 'application/vnd.apache.parquet';

const DISABLED =
  'support for Parquet encoded responses is disabled. Enable with -frontend.support-parquet-encoding=true';
const UNSUPPORTED = 'request does not support Parquet responses';

type Headers = HttpRequest['headers'];

/** True for exactly this type: a list of types with or without it, or parameters after it, ask for JSON. */
export function parquetRequested(headers: Headers): boolean {
  return headers.accept === PARQUET_TYPE;
}

/** Whether a query is to be answered with Parquet. Throws BadRequestError where it asks and may not have it. */
export function parquetWanted(headers: Headers, { supportParquetEncoding }: FrontendConfig): boolean {
  if (!parquetRequested(headers)) return false;
  if (!supportParquetEncoding) throw new BadRequestError(DISABLED);
  return true;
}

/** For endpoints without a table. Throws BadRequestError where Parquet is asked for. */
export function refuseParquet(headers: Headers): void {
  if (parquetRequested(headers)) throw new BadRequestError(UNSUPPORTED);
}
