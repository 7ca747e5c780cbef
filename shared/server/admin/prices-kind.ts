/** Price table in the configuration: `logboom.prices`, a map in which every key is optional. */
import * as z from 'zod';
import { lazily } from '../../base/model/lazily.ts';
import type { SettingKind } from '../admin/config-kinds.ts';
import { DEFAULT_PRICES, type Prices } from './prices.ts';

const NAMES: Readonly<Record<keyof Prices, string>> = {
  objectPutMillion: 'object_put_million',
  objectGetMillion: 'object_get_million',
  objectStorageGbMonth: 'object_storage_gb_month',
  tableWriteMillion: 'table_write_million',
  tableReadMillion: 'table_read_million',
  tableStorageGbMonth: 'table_storage_gb_month',
  functionRequestMillion: 'function_request_million',
  functionGbSecond: 'function_gb_second',
  gatewayRequestMillion: 'gateway_request_million',
};
const KEYS = Object.keys(NAMES) as (keyof Prices)[];

const written = lazily(() => z.partialRecord(z.enum(Object.values(NAMES)), z.number().min(0)));

export const PRICES: SettingKind<Prices> = {
  type: 'map',
  schema: lazily(() =>
    written().transform(given => {
      const read: Record<keyof Prices, number> = { ...DEFAULT_PRICES };
      for (const key of KEYS) read[key] = given[NAMES[key]] ?? read[key];
      return read;
    }),
  ),
  expected: `a map of prices of at least 0 with the keys ${Object.values(NAMES).join(', ')}`,
  format: value => Object.fromEntries(KEYS.map(key => [NAMES[key], value[key]])),
};
