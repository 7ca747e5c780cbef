/** `limits_config.otlp_config`: accepted values, refused values, and that the printed form parses back. */
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { DEFAULT_LIMITS, DEFAULT_OTLP_RULE } from '../../../shared/base/model/limits.ts';
import { ConfigError, formatConfig, parseConfig } from '../../../shared/server/admin/config.ts';

const parse = (text: string) => parseConfig(text, { name: 'test.yaml', environment: {} }).config;
const otlp = (text: string) => parse(`limits_config: {otlp_config: ${text}}`).limits.otlpConfig;
const NOTHING = DEFAULT_LIMITS.otlpConfig;

// [file contents, differences from the defaults]
const accepted: [string, object][] = [
  ['{}', {}],
  ['{severity_text_as_label: true}', { severityTextAsLabel: true }],
  ['{resource_attributes: {}}', {}],
  [
    '{resource_attributes: {ignore_defaults: true}}',
    { resourceAttributes: { ignoreDefaults: true, attributesConfig: [] } },
  ],
  [
    '{resource_attributes: {attributes_config: [{action: drop, regex: "a.*"}]}}',
    {
      resourceAttributes: {
        ignoreDefaults: false,
        attributesConfig: [DEFAULT_OTLP_RULE, { action: 'drop', attributes: [], regex: 'a.*' }],
      },
    },
  ],
  [
    '{log_attributes: [{action: index_label, attributes: [a, b]}, {attributes: [c]}]}',
    {
      logAttributes: [
        { action: 'index_label', attributes: ['a', 'b'], regex: undefined },
        { action: 'structured_metadata', attributes: ['c'], regex: undefined },
      ],
    },
  ],
  [
    '{scope_attributes: [{action: drop, attributes: [a]}]}',
    { scopeAttributes: [{ action: 'drop', attributes: ['a'], regex: undefined }] },
  ],
];

describe('otlp_config', () => {
  test.each(accepted)('%s', (text, changes) => {
    const want = { ...NOTHING, ...changes };
    expect(otlp(text)).toEqual(want);
    const config = parse(`limits_config: {otlp_config: ${text}}`);
    expect(parse(stringify(formatConfig(config, { mode: 'full' })))).toEqual(config);
  });

  test.each([
    '{scope_attributes: [{action: index_label, attributes: [a]}]}',
    '{log_attributes: [{action: keep, attributes: [a]}]}',
    '{log_attributes: [{action: drop}]}',
    '{log_attributes: [{action: drop, attributes: [a], regex: b}]}',
    '{log_attributes: [{action: drop, regex: "("}]}',
    '{log_attributes: [{action: drop, regex: "(?=a)"}]}',
    '{log_attributes: {action: drop}}',
    '{resource_attributes: []}',
    '{resource_attribute: {}}',
    '[]',
  ])('refuses %s', text => {
    expect(() => otlp(text)).toThrow(ConfigError);
    expect(() => otlp(text)).toThrow('limits_config.otlp_config: expected {resource_attributes');
  });
});
