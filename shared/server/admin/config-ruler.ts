/** The section `ruler`: storage and evaluation of rules, and notification (docs/dev/wire-format.md#rules). */
import * as z from 'zod';
import { lazily } from '../../base/model/lazily.ts';
import { NS_PER_HOUR, NS_PER_MINUTE } from '../../base/model/time-units.ts';
import {
  ADDRESS,
  type ConfigFields,
  count,
  DURATION_MS,
  DURATION_NS,
  FLAG,
  HIDDEN,
  type SettingKind,
  TEXT,
  withoutSecrets,
} from './config-kinds.ts';

const RULE_STORAGE_TYPES = ['store', 'local'] as const;
type RuleStorageType = (typeof RULE_STORAGE_TYPES)[number];

export interface RuleStorage {
  /** `store`: in the catalog, changed by the API. `local`: files below `directory`, which are only read. */
  readonly type: RuleStorageType;
  /** `<directory>/<tenant>/<file>`. */
  readonly directory: string;
}

interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

/** Credentials of a request; none if both are empty. */
export interface ClientAuth {
  readonly basic: BasicAuth | undefined;
  /** Value of the header Authorization, for example `Bearer abc`; empty is none. */
  readonly authorization: string;
}

/** One entry of `alert_relabel_configs`, with the names and defaults of Prometheus. */
export interface RelabelConfig {
  readonly sourceLabels: readonly string[];
  readonly separator: string;
  readonly regex: string;
  readonly modulus: number;
  readonly targetLabel: string;
  readonly replacement: string;
  readonly action: RelabelAction;
}

const RELABEL_ACTIONS = [
  'replace',
  'keep',
  'drop',
  'hashmod',
  'labelmap',
  'labeldrop',
  'labelkeep',
  'lowercase',
  'uppercase',
  'keepequal',
  'dropequal',
] as const;
type RelabelAction = (typeof RELABEL_ACTIONS)[number];

interface RemoteWriteClient extends ClientAuth {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface RemoteWrite {
  readonly enabled: boolean;
  readonly addOrgIdHeader: boolean;
  /** Clients by configured name. */
  readonly clients: ReadonlyMap<string, RemoteWriteClient>;
}

export interface RulerConfig {
  /** If false, the endpoints of rule groups do not exist. */
  readonly enableApi: boolean;
  readonly storage: RuleStorage;
  /** Interval at which due groups are searched. */
  readonly pollIntervalMs: number;
  /** Interval of groups without one, ns. */
  readonly evaluationIntervalNs: bigint;
  readonly externalUrl: string;
  readonly datasourceUid: string;
  readonly externalLabels: Readonly<Record<string, string>>;
  /** Base URLs separated by commas. Each receives every alert. Empty: no notifications. */
  readonly alertmanagerUrl: string;
  readonly alertmanagerClient: ClientAuth;
  readonly alertRelabelConfigs: readonly RelabelConfig[];
  /** Maximum number of alerts that wait to be sent. */
  readonly notificationQueueCapacity: number;
  readonly notificationTimeoutMs: number;
  /** Maximum outage after which `for` continues, ns. After a longer one it restarts. */
  readonly forOutageToleranceNs: bigint;
  /** Minimum time between restoring state and firing, ns. */
  readonly forGracePeriodNs: bigint;
  readonly resendDelayNs: bigint;
  readonly remoteWrite: RemoteWrite;
}

export const DEFAULT_RULER: RulerConfig = {
  enableApi: true,
  storage: { type: 'store', directory: '' },
  pollIntervalMs: 60_000,
  evaluationIntervalNs: NS_PER_MINUTE,
  externalUrl: '',
  datasourceUid: '',
  externalLabels: {},
  alertmanagerUrl: '',
  alertmanagerClient: { basic: undefined, authorization: '' },
  alertRelabelConfigs: [],
  notificationQueueCapacity: 10_000,
  notificationTimeoutMs: 10_000,
  forOutageToleranceNs: NS_PER_HOUR,
  forGracePeriodNs: 10n * NS_PER_MINUTE,
  resendDelayNs: NS_PER_MINUTE,
  remoteWrite: { enabled: false, addOrgIdHeader: true, clients: new Map() },
};

const texts = lazily(() => z.record(z.string(), z.string()));

const TEXT_MAP: SettingKind<Readonly<Record<string, string>>> = {
  type: 'map',
  schema: lazily(() =>
    texts()
      .nullable()
      .transform(map => map ?? {}),
  ),
  expected: 'a map of strings',
  format: value => value,
};

const STORAGE: SettingKind<RuleStorage> = {
  type: 'map',
  schema: lazily(() =>
    z
      // The reference names object stores here. In Logboom, rules are in the store with everything else.
      .looseObject({
        type: z.string().default('store'),
        local: z.looseObject({ directory: z.string().default('') }).nullish(),
      })
      .transform((written, context): RuleStorage => {
        if (written.type !== 'local') return DEFAULT_RULER.storage;
        const directory = written.local?.directory ?? '';
        if (directory !== '') return { type: 'local', directory };
        context.addIssue('directory is missing');
        return z.NEVER;
      }),
  ),
  expected: '{type: local, local: {directory: <path>}}, or another type to keep rules in the store',
  format: ({ type, directory }) => (type === 'local' ? { type, local: { directory } } : { type }),
};

const basicAuth = lazily(() =>
  z.looseObject({ username: z.string().default(''), password: z.string().default('') }),
);

const authSchema = lazily(() => ({
  basic_auth: basicAuth().nullish(),
  authorization: z
    .looseObject({ type: z.string().default('Bearer'), credentials: z.string().default('') })
    .nullish(),
  bearer_token: z.string().default(''),
}));

/** Names of the reference's Alertmanager client, which differ from those of Prometheus. */
const ALERTMANAGER_CLIENT: SettingKind<ClientAuth> = {
  type: 'map',
  secret: true,
  schema: lazily(() =>
    z
      .looseObject({
        ...authSchema(),
        basic_auth_username: z.string().default(''),
        basic_auth_password: z.string().default(''),
        type: z.string().default('Bearer'),
        credentials: z.string().default(''),
      })
      .transform((written): ClientAuth => {
        const { basic_auth_username: username, basic_auth_password: password, type, credentials } = written;
        if (username !== '') return { basic: { username, password }, authorization: '' };
        if (credentials !== '') return { basic: undefined, authorization: `${type} ${credentials}` };
        return authOf(written);
      }),
  ),
  expected: '{basic_auth_username, basic_auth_password, type, credentials}',
  format: ({ basic, authorization }) => {
    if (basic !== undefined) return { basic_auth_username: basic.username, basic_auth_password: HIDDEN };
    return authorization === '' ? {} : { type: authorization.split(' ')[0], credentials: HIDDEN };
  },
};

const relabelConfig = lazily(() =>
  z
    .strictObject({
      source_labels: z.array(z.string()).default([]),
      separator: z.string().default(';'),
      regex: z.string().default('(.*)'),
      modulus: z.int().min(0).default(0),
      target_label: z.string().default(''),
      replacement: z.string().default('$1'),
      action: z.string().toLowerCase().pipe(z.enum(RELABEL_ACTIONS)).default('replace'),
    })
    .transform(
      ({ source_labels, target_label, ...rest }): RelabelConfig => ({
        ...rest,
        sourceLabels: source_labels,
        targetLabel: target_label,
      }),
    ),
);

const RELABEL_CONFIGS: SettingKind<readonly RelabelConfig[]> = {
  type: 'list',
  schema: lazily(() =>
    z
      .array(relabelConfig())
      .nullable()
      .transform(list => list ?? []),
  ),
  expected:
    'a list of {source_labels, separator, regex, modulus, target_label, replacement, action} as in Prometheus',
  format: list =>
    list.map(({ sourceLabels, targetLabel, ...rest }) => ({
      source_labels: sourceLabels,
      target_label: targetLabel,
      ...rest,
    })),
};

const remoteClient = lazily(() =>
  z
    .looseObject({
      ...authSchema(),
      url: z.url({ protocol: /^https?$/ }),
      headers: texts().default({}),
      remote_timeout: DURATION_MS.schema().default(30_000),
    })
    .transform(
      (written): RemoteWriteClient => ({
        url: written.url,
        headers: written.headers,
        timeoutMs: written.remote_timeout,
        ...authOf(written),
      }),
    ),
);

const REMOTE_WRITE: SettingKind<RemoteWrite> = {
  type: 'map',
  secret: true,
  schema: lazily(() =>
    z
      .looseObject({
        enabled: z.boolean().default(false),
        add_org_id_header: z.boolean().default(true),
        /** Older syntax of the reference. */
        client: remoteClient().nullish(),
        clients: z.record(z.string(), remoteClient()).nullish(),
      })
      .transform(({ enabled, add_org_id_header: addOrgIdHeader, client, clients }, context): RemoteWrite => {
        const all = new Map(Object.entries(clients ?? {}));
        if (client) all.set('default', client);
        if (!enabled || all.size > 0) return { enabled, addOrgIdHeader, clients: all };
        context.addIssue('clients are missing');
        return z.NEVER;
      }),
  ),
  expected:
    '{enabled, add_org_id_header, clients: {<name>: {url, headers, basic_auth, authorization, remote_timeout}}}, with a client if enabled',
  format: ({ enabled, addOrgIdHeader, clients }) => ({
    enabled,
    add_org_id_header: addOrgIdHeader,
    clients: Object.fromEntries([...clients].map(([name, client]) => [name, shownClient(client)])),
  }),
};

const ALERTMANAGER_URL: SettingKind<string> = {
  type: 'string',
  secret: true,
  schema: lazily(() => z.string().refine(list => urlsOf(list).every(isHttpUrl))),
  expected: 'http or https URLs, separated by commas',
  format: list => urlsOf(list).map(withoutSecrets).join(','),
};

/** Splits a comma-separated list of URLs. */
export function urlsOf(list: string): string[] {
  return list
    .split(',')
    .map(url => url.trim())
    .filter(url => url !== '');
}

export const RULER_FIELDS: ConfigFields<RulerConfig> = {
  enableApi: { name: 'enable_api', kind: FLAG, about: 'serve the endpoints of rule groups; off: 404' },
  storage: {
    name: 'storage',
    kind: STORAGE,
    about:
      '`{type: local, local: {directory: PATH}}`: read groups from `PATH/<tenant>/<file>`; the API cannot change them; any other type: they are stored in the catalog',
  },
  pollIntervalMs: {
    name: 'poll_interval',
    kind: DURATION_MS,
    about: 'interval at which local files are reloaded',
  },
  evaluationIntervalNs: {
    name: 'evaluation_interval',
    kind: DURATION_NS,
    about: 'interval of groups without one',
  },
  externalUrl: {
    name: 'external_url',
    kind: ADDRESS,
    about: 'base URL of links in alerts',
  },
  datasourceUid: { name: 'datasource_uid', kind: TEXT, about: 'UID of the data source in these links' },
  externalLabels: { name: 'external_labels', kind: TEXT_MAP, about: 'labels to add to every alert' },
  alertmanagerUrl: {
    name: 'alertmanager_url',
    kind: ALERTMANAGER_URL,
    about: 'URLs of Alertmanagers, separated by commas; each receives every alert',
  },
  alertmanagerClient: {
    name: 'alertmanager_client',
    kind: ALERTMANAGER_CLIENT,
    about: '`{basic_auth_username, basic_auth_password}` or `{type, credentials}`',
  },
  alertRelabelConfigs: {
    name: 'alert_relabel_configs',
    kind: RELABEL_CONFIGS,
    about: 'relabeling of alerts before they are sent, as in Prometheus',
  },
  notificationQueueCapacity: {
    name: 'notification_queue_capacity',
    kind: count,
    about: 'maximum number of alerts sent after one evaluation',
  },
  notificationTimeoutMs: { name: 'notification_timeout', kind: DURATION_MS, about: 'timeout of a request' },
  forOutageToleranceNs: {
    name: 'for_outage_tolerance',
    kind: DURATION_NS,
    about: 'maximum outage after which `for` continues; after a longer one it restarts',
  },
  forGracePeriodNs: {
    name: 'for_grace_period',
    kind: DURATION_NS,
    about: 'minimum time between the end of an outage and firing of an alert that was pending before it',
  },
  resendDelayNs: {
    name: 'resend_delay',
    kind: DURATION_NS,
    about: 'interval at which a firing alert is sent again',
  },
  remoteWrite: {
    name: 'remote_write',
    kind: REMOTE_WRITE,
    about:
      '`{enabled, add_org_id_header, clients: {NAME: {url, headers, basic_auth, authorization, remote_timeout}}}`: endpoints that receive the series of rules',
  },
};

interface WrittenAuth {
  readonly basic_auth?: BasicAuth | null;
  readonly authorization?: { readonly type: string; readonly credentials: string } | null;
  readonly bearer_token: string;
}

function authOf({ basic_auth: basic, authorization, bearer_token: token }: WrittenAuth): ClientAuth {
  const credentials = authorization?.credentials ?? token;
  const type = authorization?.type ?? 'Bearer';
  return {
    basic: basic ? { username: basic.username, password: basic.password } : undefined,
    authorization: credentials === '' ? '' : `${type} ${credentials}`,
  };
}

function shownClient({ url, headers, timeoutMs, basic, authorization }: RemoteWriteClient) {
  return {
    url: withoutSecrets(url),
    // Hidden, because keys of other services are often sent as headers.
    headers: Object.fromEntries(Object.keys(headers).map(name => [name, HIDDEN])),
    remote_timeout: DURATION_MS.format(timeoutMs),
    ...(basic && { basic_auth: { username: basic.username, password: HIDDEN } }),
    ...(authorization !== '' && {
      authorization: { type: authorization.split(' ')[0], credentials: HIDDEN },
    }),
  };
}

function isHttpUrl(url: string): boolean {
  return /^https?:\/\//.test(url) && URL.canParse(url);
}
