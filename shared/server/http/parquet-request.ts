/**
 * Detects requests for Parquet, and refuses them if needed (docs/dev/wire-format.md#parquet). Only the two query
 * endpoints have tables. Handlers of all other query endpoints call `refuseParquet`.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import type { FrontendConfig } from '../admin/config-fields.ts';
import type { HttpRequest } from './message.ts';

export const PARQUET_TYPE = 'application/vnd.apache.parquet';

const DISABLED =
  'support for Parquet encoded responses is disabled. Enable with -frontend.support-parquet-encoding=true';
const UNSUPPORTED = 'request does not support Parquet responses';

type RequestHeaders = HttpRequest['headers'];

/** True for exactly this type. A list of types, or parameters after it, select JSON. */
export function parquetRequested(headers: RequestHeaders): boolean {
  return headers.accept === PARQUET_TYPE;
}

/** True if the response must be Parquet. Throws BadRequestError if Parquet is requested but disabled. */
export function parquetWanted(headers: RequestHeaders, { supportParquetEncoding }: FrontendConfig): boolean {
  if (!parquetRequested(headers)) return false;
  if (!supportParquetEncoding) throw new BadRequestError(DISABLED);
  return true;
}

/** Throws BadRequestError if Parquet is requested. Endpoints without a table call it. */
export function refuseParquet(headers: RequestHeaders): void {
  if (parquetRequested(headers)) throw new BadRequestError(UNSUPPORTED);
}
