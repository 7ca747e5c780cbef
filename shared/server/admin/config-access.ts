/** Who may call (docs/dev/security-review.md): the section `auth`, which is Logboom's own. `auth_enabled` at the top is about tenants. */
import { type Fields, flag, texts } from './config-kinds.ts';

export interface AccessConfig {
  /** Every request needs a token; else the tenant header is believed, and something in front decides who may call. */
  readonly tokensEnabled: boolean;
  /** `/metrics` is answered without a token. It has figures of all tenants, by name. */
  readonly metricsPublic: boolean;
  /** Of other sites whose pages may call, for example `https://grafana.example.org`. */
  readonly allowedOrigins: readonly string[];
}

export const DEFAULT_ACCESS: AccessConfig = Object.freeze({
  tokensEnabled: false,
  metricsPublic: false,
  allowedOrigins: [],
});

export const ACCESS_FIELDS: Fields<AccessConfig> = {
  tokensEnabled: {
    name: 'tokens_enabled',
    kind: flag,
    about:
      'require an access token for every request ([security](../security.md)); off: Logboom trusts the tenant header',
  },
  metricsPublic: {
    name: 'metrics_public',
    kind: flag,
    about: 'serve `/metrics` without a token; it contains figures and names of all tenants',
  },
  allowedOrigins: {
    name: 'allowed_origins',
    kind: texts,
    about:
      'origins of other sites whose pages may send requests, such as `https://tools.example.org`; all others are refused',
  },
};
