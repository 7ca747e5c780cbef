/**
 * Saved queries and boards of the explorer: their forms, and the limits that the store and the page share. `read-board.ts` checks
 * what clients send. A field that is added later must have a default there, so that stored boards stay readable.
 */
export const CHART_KINDS = ['lines', 'area', 'bars', 'heat', 'top', 'value', 'table'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

/** A panel shows values, or the lines of a log query. */
export const PANEL_KINDS = [...CHART_KINDS, 'logs'] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];

/** `auto`: as far as the functions of the query tell. */
export const UNITS = ['auto', 'number', 'bytes', 'seconds', 'percent'] as const;
export type UnitChoice = (typeof UNITS)[number];

/** Seconds between refreshes; 0 is never. A shorter interval would query faster than a store answers long ranges. */
export const REFRESH_SECONDS = [0, 5, 10, 30, 60, 300, 900, 3600] as const;

/** Panels are placed on a grid of 12 columns, and rows of a fixed height. */
export const GRID_COLUMNS = 12;
export const MAX_PANEL_ROWS = 20;
/** Each panel sends its queries at once; more than a screen shows are not loaded until they are seen. */
export const MAX_PANELS = 60;
/** More series in one chart cannot be told apart. */
export const MAX_QUERIES = 5;
export const MAX_VARIABLES = 12;
export const MAX_VARIABLE_VALUES = 200;
export const MAX_NAME_CHARACTERS = 80;
export const MAX_TEXT_CHARACTERS = 1000;
export const MAX_QUERY_CHARACTERS = 8192;

export interface PanelQuery {
  /** LogQL with variables. */
  readonly query: string;
  /** Name of its series, with `{{label}}` for values of labels; empty for the labels. */
  readonly legend: string;
}

export interface BoardPanel {
  readonly title: string;
  readonly kind: PanelKind;
  readonly unit: UnitChoice;
  /** 1 to GRID_COLUMNS. */
  readonly width: number;
  /** 1 to MAX_PANEL_ROWS. */
  readonly rows: number;
  readonly queries: readonly PanelQuery[];
}

export interface BoardVariable {
  /** Written as `$name` or `${name}` in queries. */
  readonly name: string;
  /** Label whose values are offered; empty for a list of values or a free text. */
  readonly label: string;
  /** Selector of the streams whose values are offered; empty for all. */
  readonly selector: string;
  /** Fixed values, if there is no label. */
  readonly values: readonly string[];
  /** What is chosen when the board opens. Several are joined as a regular expression. */
  readonly chosen: readonly string[];
  /** Whether several values, or all, may be chosen. */
  readonly several: boolean;
}

export interface Board {
  readonly name: string;
  readonly description: string;
  /** As in the address of the page: `now-6h`, or Unix milliseconds. */
  readonly from: string;
  readonly to: string;
  readonly refreshSeconds: number;
  readonly variables: readonly BoardVariable[];
  readonly panels: readonly BoardPanel[];
}

export interface SavedQuery {
  readonly name: string;
  readonly description: string;
  /** Several are drawn in one chart. */
  readonly queries: readonly string[];
  /** Empty: the range that is chosen when it is opened. */
  readonly from: string;
  readonly to: string;
  readonly chart: ChartKind;
}
