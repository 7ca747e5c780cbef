/**
 * Saved queries and boards of the explorer: their types, and the limits that the server and the page share.
 * `read-board.ts` checks what clients send. A new field needs a default there, so that stored boards stay
 * readable.
 */
export const CHART_KINDS = ['lines', 'area', 'bars', 'heat', 'top', 'value', 'table'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

/** Kinds of a panel: a chart of values, or the lines of a log query. */
export const PANEL_KINDS = [...CHART_KINDS, 'logs'] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];

/** Units of a panel. `auto` derives the unit from the functions of the query. */
export const UNITS = ['auto', 'number', 'bytes', 'seconds', 'percent'] as const;
export type UnitChoice = (typeof UNITS)[number];

/**
 * Seconds between refreshes; 0 disables them. With a shorter interval, queries over long ranges would not
 * finish in time.
 */
export const REFRESH_SECONDS = [0, 5, 10, 30, 60, 300, 900, 3600] as const;

/** Width of the panel grid, in columns. Rows have a fixed height. */
export const GRID_COLUMNS = 12;
export const MAX_PANEL_ROWS = 20;
/**
 * Maximum number of panels. Each panel sends its queries in parallel; panels outside the screen load when
 * they become visible.
 */
export const MAX_PANELS = 60;
/** Maximum number of queries in one chart. Readers cannot distinguish more series. */
export const MAX_QUERIES = 5;
export const MAX_BOARD_VARIABLES = 12;
export const MAX_VARIABLE_VALUES = 200;
export const MAX_BOARD_NAME_CHARACTERS = 80;
export const MAX_BOARD_TEXT_CHARACTERS = 1000;
export const MAX_QUERY_CHARACTERS = 8192;

export interface PanelQuery {
  /** LogQL; may contain variables. */
  readonly query: string;
  /** Series name with `{{label}}` for label values; empty shows the labels. */
  readonly legend: string;
}

export interface BoardPanel {
  readonly title: string;
  readonly kind: PanelKind;
  readonly unit: UnitChoice;
  /** Columns, 1 to GRID_COLUMNS. */
  readonly width: number;
  /** Rows, 1 to MAX_PANEL_ROWS. */
  readonly rows: number;
  readonly queries: readonly PanelQuery[];
}

export interface BoardVariable {
  /** Name; queries refer to it as `$name` or `${name}`. */
  readonly name: string;
  /** Label whose values are offered; empty for a fixed list or free text. */
  readonly label: string;
  /** Selector of the streams whose values are offered; empty for all. */
  readonly selector: string;
  /** Fixed values, used if there is no label. */
  readonly values: readonly string[];
  /** Values selected when the board opens. Several are joined into a regular expression. */
  readonly chosen: readonly string[];
  /** Whether the user may select several values, or all. */
  readonly several: boolean;
}

export interface Board {
  readonly name: string;
  readonly description: string;
  /** Start time as in the URL: `now-6h`, or Unix milliseconds. */
  readonly from: string;
  readonly to: string;
  readonly refreshSeconds: number;
  readonly variables: readonly BoardVariable[];
  readonly panels: readonly BoardPanel[];
}

export interface SavedQuery {
  readonly name: string;
  readonly description: string;
  /** Queries that are drawn in one chart. */
  readonly queries: readonly string[];
  /** Start time; empty means the range that is selected when the query is opened. */
  readonly from: string;
  readonly to: string;
  readonly chart: ChartKind;
}
