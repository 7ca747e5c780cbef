/** Secrets of a file are neither printed nor quoted, at any place that can hold one. */
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { ConfigError, formatConfig, parseConfig } from '../../shared/server/admin/config.ts';

const SECRET = 'hunter2-X';

/** [what, the configuration with the secret] */
const PLACES: readonly (readonly [string, string])[] = [
  ['password of an address', `ruler: {alertmanager_url: "http://me:${SECRET}@am:9093"}`],
  ['the second of several', `ruler: {alertmanager_url: "http://am:9093,http://me:${SECRET}@am2:9093/x"}`],
  ['parameter of an address', `ruler: {alertmanager_url: "http://am:9093/?api_key=${SECRET}"}`],
  ['external address', `ruler: {external_url: "https://me:${SECRET}@grafana/x"}`],
  ['endpoint', `logboom: {aws_endpoint: "http://key:${SECRET}@localhost:4566"}`],
  ['basic_auth', `ruler: {alertmanager_client: {basic_auth: {username: me, password: ${SECRET}}}}`],
  ['flat', `ruler: {alertmanager_client: {basic_auth_username: me, basic_auth_password: ${SECRET}}}`],
  ['credentials', `ruler: {alertmanager_client: {credentials: ${SECRET}}}`],
  ['type', `ruler: {alertmanager_client: {type: Basic, credentials: "a ${SECRET}"}}`],
  ['authorization', `ruler: {alertmanager_client: {authorization: {credentials: ${SECRET}}}}`],
  ['bearer_token', `ruler: {alertmanager_client: {bearer_token: ${SECRET}}}`],
  ...[
    `basic_auth: {username: me, password: ${SECRET}}`,
    `authorization: {credentials: ${SECRET}}`,
    `bearer_token: ${SECRET}`,
    `headers: {X-Api-Key: ${SECRET}}`,
  ].map(
    client =>
      [
        `remote write, ${client}`,
        `ruler: {remote_write: {clients: {a: {url: "http://p/w", ${client}}}}}`,
      ] as const,
  ),
  ['remote write, address', `ruler: {remote_write: {clients: {a: {url: "http://me:${SECRET}@p/w"}}}}`],
  ['remote write, parameter', `ruler: {remote_write: {client: {url: "http://p/w?token=${SECRET}&b=1"}}}`],
];

describe.each(PLACES)('%s', (_, text) => {
  const { config, warnings } = parseConfig(text, { name: 'f', environment: {} });

  test('is read and never printed', () => {
    expect(warnings).toEqual([]);
    const kept = JSON.stringify(config, (_, value) => {
      if (typeof value === 'bigint') return String(value);
      return value instanceof Map ? [...value] : value;
    });
    expect(kept).toContain(SECRET);
    for (const mode of ['full', 'diff'] as const) {
      const tree = formatConfig(config, { mode });
      expect(stringify(tree)).not.toContain(SECRET);
      expect(JSON.stringify(tree)).not.toContain(SECRET);
      expect(JSON.stringify(tree)).toContain('secret>');
    }
  });
});

test.each([
  `ruler: {alertmanager_url: "ftp://me:${SECRET}@am"}`,
  `ruler: {alertmanager_url: [${SECRET}]}`,
  `ruler: {external_url: [${SECRET}]}`,
  `ruler: {alertmanager_client: ${SECRET}}`,
  `ruler: {alertmanager_client: {basic_auth_password: [${SECRET}]}}`,
  `ruler: {remote_write: {clients: {a: {url: "x:${SECRET}"}}}}`,
  `ruler: {remote_write: {clients: {a: {url: "http://p", headers: {a: [${SECRET}]}}}}}`,
  `ruler: {remote_write: {clients: {a: {url: "http://p", bearer_token: [${SECRET}]}}}}`,
  `logboom: {aws_endpoint: {a: ${SECRET}}}`,
  // No YAML: the parser must not show the line.
  `ruler: {alertmanager_client: {bearer_token: "${SECRET}}}`,
])('is never quoted in a message: %s', text => {
  let message = '';
  try {
    parseConfig(text, { name: 'f', environment: {} });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    message = (error as ConfigError).message;
  }
  expect(message).toMatch(/^f:1:\d+: /);
  expect(message).not.toContain(SECRET);
});
