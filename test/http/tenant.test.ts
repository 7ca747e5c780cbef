import { describe, expect, test } from '@jest/globals';
import { ClientError } from '../../shared/base/model/errors.ts';
import {
  MAX_TENANTS_PER_REQUEST,
  queriedTenants,
  resolveTenants,
  singleTenant,
  type TenantConfig,
} from '../../shared/server/http/tenant.ts';

const config = (authEnabled: boolean, multiTenantQueriesEnabled: boolean): TenantConfig => ({
  auth: { target: 'all', authEnabled, noAuthTenant: 'fake' },
  querier: { multiTenantQueriesEnabled },
});
const many = config(true, true);
const one = config(true, false);
/** A request with this header, as the guard hands it on. */
const named = (header: string | undefined, given: TenantConfig) => ({
  tenants: resolveTenants(header, given),
});
const queried = (header: string | undefined, given: TenantConfig) =>
  queriedTenants(named(header, given), given).ids;
const single = (header: string | undefined, given: TenantConfig) => singleTenant(named(header, given));

function refusal(act: () => unknown): [number, string] {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ClientError);
    return [(error as ClientError).status, (error as ClientError).message];
  }
  throw new Error('accepted');
}

describe('accepted tenants', () => {
  test.each<[string, string[]]>([
    ['a', ['a']],
    ['b|a', ['a', 'b']],
    ['a|a', ['a']],
    ['recorded|other-tenant|recorded', ['other-tenant', 'recorded']],
    ['a|', ['', 'a']],
    ['|a', ['', 'a']],
    ['a||b', ['', 'a', 'b']],
    ['a||a', ['', 'a']],
    ["a!-_.*'()", ["a!-_.*'()"]],
    ['__tenant', ['__tenant']],
    ['...', ['...']],
    ['x'.repeat(150), ['x'.repeat(150)]],
  ])('%s', (id, want) => {
    expect(queried(id, many)).toEqual(want);
  });

  test('are one tenant however often it is named', () => {
    expect(single('a|a', many)).toBe('a');
    expect(queried('a|a', one)).toEqual(['a']);
  });

  test('ignore the header without authentication', () => {
    for (const given of [undefined, 'a|b', 'a b']) {
      expect(queried(given, config(false, true))).toEqual(['fake']);
      expect(single(given, config(false, false))).toBe('fake');
    }
  });
});

describe('refused tenants', () => {
  test.each<[string, number, string]>([
    ['', 401, 'no org id'],
    ['|', 400, 'no org id'],
    ['a b', 400, "tenant ID 'a b' contains unsupported character ' '"],
    ['.', 400, "tenant ID is '.' or '..'"],
    ['..', 400, "tenant ID is '.' or '..'"],
    ['ok|..', 400, "tenant ID is '.' or '..'"],
    ['a/b', 400, "tenant ID 'a/b' contains unsupported character '/'"],
    ['a\\b', 400, "tenant ID 'a\\b' contains unsupported character '\\'"],
    ['a,b', 400, "tenant ID 'a,b' contains unsupported character ','"],
    ['a+b', 400, "tenant ID 'a+b' contains unsupported character '+'"],
    ['a#b', 400, "tenant ID 'a#b' contains unsupported character '#'"],
    ['a:b', 400, "tenant ID 'a:b' contains unsupported character ':'"],
    ['\u00c3\u00a9', 400, "tenant ID 'é' contains unsupported character 'Ã'"],
    ['x'.repeat(151), 400, 'tenant ID is too long: max 150 characters'],
    [`${'x'.repeat(151)}/`, 400, `tenant ID '${'x'.repeat(151)}/' contains unsupported character '/'`],
  ])('%s', (id, status, message) => {
    expect(refusal(() => queried(id, many))).toEqual([status, message]);
    expect(refusal(() => single(id, many))).toEqual([status, message]);
  });

  test('include a missing header', () => {
    expect(refusal(() => queried(undefined, many))).toEqual([401, 'no org id']);
  });

  test.each(['a|b', 'a|', '|a'])('include %s if only one is allowed, or several are disabled', several => {
    expect(refusal(() => single(several, many))).toEqual([400, 'multiple org IDs present']);
    expect(refusal(() => queried(several, one))).toEqual([400, 'multiple org IDs present']);
  });

  test('include more tenants than a query may have', () => {
    const ids = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`).join('|');
    expect(queried(ids(MAX_TENANTS_PER_REQUEST), many)).toHaveLength(MAX_TENANTS_PER_REQUEST);
    expect(refusal(() => queried(ids(MAX_TENANTS_PER_REQUEST + 1), many))).toEqual([
      400,
      'too many org IDs present: 101, limit: 100',
    ]);
  });
});
