/**
 * Access control (docs/dev/security-review.md): the section `auth`, which only Logboom has. `auth_enabled` at
 * the top of the file is about tenants.
 */
import { type ConfigFields, FLAG, TEXTS } from './config-kinds.ts';

export interface AccessConfig {
  /**
   * If true, every request needs a token. Otherwise the tenant header is trusted, and a proxy must control
   * access.
   */
  readonly tokensEnabled: boolean;
  /** If true, `/metrics` needs no token. It contains figures of all tenants, by name. */
  readonly metricsPublic: boolean;
  /** Origins of other sites whose pages may send requests, for example `https://grafana.example.org`. */
  readonly allowedOrigins: readonly string[];
}

export const DEFAULT_ACCESS: AccessConfig = Object.freeze({
  tokensEnabled: false,
  metricsPublic: false,
  allowedOrigins: [],
});

export const ACCESS_FIELDS: ConfigFields<AccessConfig> = {
  tokensEnabled: {
    name: 'tokens_enabled',
    kind: FLAG,
    about:
      'require an access token for every request ([security](../security.md)); off: Logboom trusts the tenant header',
  },
  metricsPublic: {
    name: 'metrics_public',
    kind: FLAG,
    about: 'serve `/metrics` without a token; it contains figures and names of all tenants',
  },
  allowedOrigins: {
    name: 'allowed_origins',
    kind: TEXTS,
    about:
      'origins of other sites whose pages may send requests, such as `https://tools.example.org`; all others are refused',
  },
};
