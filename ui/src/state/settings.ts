/** One person's taste, remembered in this browser. Never what a shared link should carry. */
import { createStore, type Store } from './store.ts';

export type Theme = 'auto' | 'light' | 'dark';
export type Zone = 'local' | 'utc';

export interface Settings {
  readonly theme: Theme;
  /** Of every time that is shown or typed. */
  readonly zone: Zone;
  /** Long lines go on below, instead of being cut. */
  readonly wraps: boolean;
  /** Lines as the store has them, instead of the message first. */
  readonly raw: boolean;
  /** Columns of the log list that were chosen last (lines/columns.ts); empty for automatic ones. */
  readonly columns: string;
  /** Templates of addresses by the field whose values they are for (lines/field-links.ts). */
  readonly links: Readonly<Record<string, string>>;
  readonly showsVolume: boolean;
  /** The fields at the side of the log list. */
  readonly showsFields: boolean;
  /** The tenant to ask for where the address names none; empty where the store has one of its own. */
  readonly tenant: string;
  /** Tenants that were asked, latest first. */
  readonly tenants: readonly string[];
  /** Queries that were run, latest first. */
  readonly recentQueries: readonly string[];
}

const KEY = 'logboom.settings';
const MAX_REMEMBERED = 20;
const DEFAULTS: Settings = {
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

export const settings: Store<Settings> = createStore(read());

export function changeSettings(changes: Partial<Settings>): void {
  const next = { ...settings.get(), ...changes };
  settings.set(next);
  try {
    window.localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Storage may be off or full: the setting holds until the page is closed.
  }
}

/** Puts a text to the front of a list of remembered ones. */
export function remember(list: 'tenants' | 'recentQueries', text: string): void {
  const others = settings.get()[list].filter(known => known !== text);
  changeSettings({ [list]: [text, ...others].slice(0, MAX_REMEMBERED) });
}

function read(): Settings {
  try {
    const known = JSON.parse(window.localStorage.getItem(KEY) ?? '{}') as Partial<Settings>;
    return { ...DEFAULTS, ...known };
  } catch {
    return DEFAULTS;
  }
}
