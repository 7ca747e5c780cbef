import { expect, test } from '@jest/globals';
import { ConfigError, formatConfig, parseConfig } from '../../shared/server/admin/config.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { DEFAULT_PRICES } from '../../shared/server/admin/prices.ts';

const parse = (yaml: string) => parseConfig(yaml, { name: 'test', environment: {} }).config.logboom;

test('prices that the file gives take the place of the defaults, the others stay', () => {
  const { prices, currency } = parse(
    'logboom: {currency: EUR, prices: {object_put_million: 5.4, table_read_million: 0}}',
  );
  expect(currency).toBe('EUR');
  expect(prices).toEqual({ ...DEFAULT_PRICES, objectPutMillion: 5.4, tableReadMillion: 0 });
});

test('an empty table has all defaults', () => {
  expect(parse('logboom: {prices: {}}').prices).toEqual(DEFAULT_PRICES);
});

test('printed prices can be read', () => {
  const printed = formatConfig(DEFAULT_CONFIG, { mode: 'full' }) as {
    logboom: { prices: Record<string, number> };
  };
  expect(printed.logboom.prices.function_gb_second).toBe(0.0000133334);
  expect(parse(JSON.stringify({ logboom: { prices: printed.logboom.prices } })).prices).toEqual(
    DEFAULT_PRICES,
  );
});

test.each(['{object_put_million: -1}', '{object_put_million: cheap}', '{s3_put: 1}', '5'])(
  '%s is not a price table',
  given => {
    expect(() => parse(`logboom: {prices: ${given}}`)).toThrow(ConfigError);
    expect(() => parse(`logboom: {prices: ${given}}`)).toThrow(
      /test:1:\d+: logboom\.prices: expected a map of prices of at least 0 with the keys object_put_million, .*, got /,
    );
  },
);
