/**
 * The key `otlp_config` of a tenant's limits: how attributes of OTLP logs are stored
 * (docs/dev/wire-format.md#resource-attributes).
 *
 * Pitfall: unless the file sets `ignore_defaults`, the parsed list of resource attributes begins with the
 * default rule. The file does not contain this rule, and printing omits it again.
 */
import * as z from 'zod';
import { lazily } from '../../base/model/lazily.ts';
import { DEFAULT_OTLP_RULE, OTLP_ACTIONS, type OtlpConfig, type OtlpRule } from '../../base/model/limits.ts';
import { validateRegex } from '../../language/regex/regex.ts';
import type { SettingKind } from './config-kinds.ts';

/** Rules per list. Every attribute that is new in a push is compared with each of them. */
export const MAX_RULES = 200;

const rule = lazily(() =>
  z
    .strictObject({
      action: z.enum(OTLP_ACTIONS).default('structured_metadata'),
      attributes: z.array(z.string()).default([]),
      regex: z.string().refine(isRegex).optional(),
    })
    // Exactly one of the two, as the reference requires.
    .refine(({ attributes, regex }) => attributes.length > 0 !== (regex !== undefined))
    .transform(({ action, attributes, regex }): OtlpRule => ({ action, attributes, regex })),
);

const rules = lazily(() => z.array(rule()).max(MAX_RULES).default([]));

const resourceAttributes = lazily(() =>
  z
    .strictObject({ ignore_defaults: z.boolean().default(false), attributes_config: rules() })
    .transform(({ ignore_defaults: ignoreDefaults, attributes_config: given }) => ({
      ignoreDefaults,
      attributesConfig: ignoreDefaults ? given : [DEFAULT_OTLP_RULE, ...given],
    })),
);

const schema = lazily(() =>
  z
    .strictObject({
      resource_attributes: resourceAttributes().prefault({}),
      // Scopes are libraries, many per stream, so the reference refuses to index by them.
      scope_attributes: rules().refine(list => list.every(({ action }) => action !== 'index_label')),
      log_attributes: rules(),
      severity_text_as_label: z.boolean().default(false),
    })
    .transform(
      (written): OtlpConfig => ({
        resourceAttributes: written.resource_attributes,
        scopeAttributes: written.scope_attributes,
        logAttributes: written.log_attributes,
        severityTextAsLabel: written.severity_text_as_label,
      }),
    ),
);

export const OTLP_CONFIG: SettingKind<OtlpConfig> = {
  type: 'map',
  schema,
  expected:
    '{resource_attributes: {ignore_defaults, attributes_config}, scope_attributes, log_attributes, severity_text_as_label}; ' +
    'a rule is {action, attributes} or {action, regex}, with a valid regular expression; ' +
    'actions are index_label (not for scope_attributes), structured_metadata, drop',
  format: ({ resourceAttributes: { ignoreDefaults, attributesConfig }, ...rest }) => ({
    resource_attributes: {
      ignore_defaults: ignoreDefaults,
      attributes_config: (ignoreDefaults ? attributesConfig : attributesConfig.slice(1)).map(formatRule),
    },
    scope_attributes: rest.scopeAttributes.map(formatRule),
    log_attributes: rest.logAttributes.map(formatRule),
    severity_text_as_label: rest.severityTextAsLabel,
  }),
};

function formatRule({ action, attributes, regex }: OtlpRule): object {
  return regex === undefined ? { action, attributes } : { action, regex };
}

function isRegex(text: string): boolean {
  try {
    validateRegex(text);
    return true;
  } catch {
    return false;
  }
}
