import { expect, test } from '@jest/globals';
import { settingOfRefusal } from '../../shared/base/model/limit-settings.ts';
import { streamLimitError, tenantRateError } from '../../shared/write/ingest/rates/rate-errors.ts';

test.each([
  [tenantRateError('a', { limitBytes: 1, lines: 2, bytes: 3 }).message, 'limits_config.ingestion_rate_mb'],
  [streamLimitError('a', '{app="a"}').message, 'limits_config.max_global_streams_per_user'],
  [
    'maximum number of series (500) reached for a single query; consider reducing',
    'limits_config.max_query_series',
  ],
  ['no org id', undefined],
  ["Max entry size '1' bytes exceeded ... Please see `limits_config.max_line_size`", undefined],
])('%s: %s', (message, expected) => {
  expect(settingOfRefusal(message)).toBe(expected);
});
