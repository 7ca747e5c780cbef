/** Personal preferences, remembered in this browser. Shared links never include them. */
import { createStore, type Store } from './store.ts';

export type Theme = 'auto' | 'light' | 'dark';
export type DisplayZone = 'local' | 'utc';

interface PageSettings {
  readonly theme: Theme;
  /** Zone of all times that are shown or typed. */
  readonly zone: DisplayZone;
  /** Wraps long lines instead of cutting them. */
  readonly wraps: boolean;
  /** Shows stored lines instead of the message first. */
  readonly raw: boolean;
  /** Columns of the log list that were chosen last (lines/columns.ts); empty for automatic ones. */
  readonly columns: string;
  /** URL templates by field (lines/field-links.ts). */
  readonly links: Readonly<Record<string, string>>;
  readonly showsVolume: boolean;
  /** Shows the fields panel of the log list. */
  readonly showsFields: boolean;
  /** Tenant to use if the URL has none; empty if the store has a default tenant. */
  readonly tenant: string;
  /** Recently used tenants, latest first. */
  readonly tenants: readonly string[];
  /** Recently run queries, latest first. */
  readonly recentQueries: readonly string[];
}

const KEY = 'logboom.settings';
const MAX_REMEMBERED = 20;
const DEFAULTS: PageSettings = {
  theme: 'auto',
  zone: 'local',
  wraps: false,
  raw: false,
  columns: '',
  links: {},
  showsVolume: true,
  showsFields: false,
  tenant: '',
  tenants: [],
  recentQueries: [],
};

export const settings: Store<PageSettings> = createStore(read());

export function changeSettings(changes: Partial<PageSettings>): void {
  const next = { ...settings.get(), ...changes };
  settings.set(next);
  try {
    window.localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Storage may be disabled or full: the setting applies until the page is closed.
  }
}

/** Moves a text to the front of a remembered list. */
export function remember(list: 'tenants' | 'recentQueries', text: string): void {
  const others = settings.get()[list].filter(known => known !== text);
  changeSettings({ [list]: [text, ...others].slice(0, MAX_REMEMBERED) });
}

function read(): PageSettings {
  try {
    const known = JSON.parse(window.localStorage.getItem(KEY) ?? '{}') as Partial<PageSettings>;
    return { ...DEFAULTS, ...known };
  } catch {
    return DEFAULTS;
  }
}
