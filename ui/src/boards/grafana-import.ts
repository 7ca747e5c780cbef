/**
 * Imports a Grafana dashboard as a board: panels with Loki queries, and variables with label values, as far
 * as they can be translated. Everything else is listed, so that users do not mistake the board for the whole
 * dashboard.
 */
import {
  type Board,
  type BoardPanel,
  type BoardVariable,
  GRID_COLUMNS,
  MAX_BOARD_NAME_CHARACTERS,
  MAX_BOARD_TEXT_CHARACTERS,
  MAX_BOARD_VARIABLES,
  MAX_PANEL_ROWS,
  MAX_PANELS,
  MAX_QUERIES,
  MAX_QUERY_CHARACTERS,
  MAX_VARIABLE_VALUES,
  type PanelKind,
  type PanelQuery,
  REFRESH_SECONDS,
  type UnitChoice,
} from '../../../shared/base/model/board.ts';
import { readBoard } from '../../../shared/base/model/read-board.ts';

type Json = Readonly<Record<string, unknown>>;

interface GrafanaImport {
  readonly board: Board;
  readonly notes: readonly string[];
}

const KINDS: Readonly<Record<string, PanelKind>> = {
  timeseries: 'lines',
  graph: 'lines',
  logs: 'logs',
  stat: 'value',
  singlestat: 'value',
  gauge: 'value',
  bargauge: 'top',
  barchart: 'top',
  piechart: 'top',
  table: 'table',
  'table-old': 'table',
  heatmap: 'heat',
};
/** Panel types that look different on a board. */
const SHOWN_AS: Readonly<Record<string, string>> = {
  gauge: 'a gauge is shown as a value',
  bargauge: 'a bar gauge is shown as a top list',
  barchart: 'a bar chart is shown as a top list',
  piechart: 'a pie chart is shown as a top list',
};
const UNITS: Readonly<Record<string, UnitChoice>> = {
  short: 'number',
  none: 'number',
  bytes: 'bytes',
  decbytes: 'bytes',
  Bps: 'bytes',
  binBps: 'bytes',
  s: 'seconds',
  percentunit: 'percent',
};
/** Grafana's grid has 24 columns, and rows of about half the height. */
const COLUMNS_RATIO = 24 / GRID_COLUMNS;
const ROWS_RATIO = 2;
const MAX_NOTES = 100;
const MAX_FOUND_PANELS = 1000;

export function isGrafana(value: unknown): value is Json {
  const dashboard = dashboardOf(value);
  return dashboard !== undefined && Array.isArray(dashboard.panels ?? dashboard.rows);
}

/** Throws BadRequestError if the dashboard cannot become a board. */
export function importGrafana(value: Json): GrafanaImport {
  const dashboard = dashboardOf(value) ?? {};
  const notes: string[] = [];
  const variables = variablesOf(dashboard, notes);
  const known = new Set(variables.map(({ name }) => name));
  const found = panelsOf(dashboard);
  const panels = found.flatMap(panel => translated(panel, notes, known));
  if (panels.length > MAX_PANELS)
    notes.push(`${panels.length - MAX_PANELS} panels are omitted (limit: ${MAX_PANELS} per board)`);
  if (list(object(dashboard.annotations).list).some(one => object(one).builtIn !== 1))
    notes.push('Annotations are omitted');
  if (list(dashboard.links).length > 0) notes.push('Links of the dashboard are omitted');
  const { from, to } = object(dashboard.time);
  const board = readBoard({
    name: text(dashboard.title, MAX_BOARD_NAME_CHARACTERS) || 'Imported dashboard',
    description: text(dashboard.description, MAX_BOARD_TEXT_CHARACTERS),
    from: timeOf(from, 'now-1h', notes),
    to: timeOf(to, 'now', notes),
    refreshSeconds: refreshOf(dashboard.refresh),
    variables,
    panels: panels.slice(0, MAX_PANELS),
  });
  const shown = notes.slice(0, MAX_NOTES);
  if (notes.length > MAX_NOTES) shown.push(`${notes.length - MAX_NOTES} more`);
  return { board, notes: shown };
}

/** Dashboard as Grafana's UI or API exports it. */
function dashboardOf(value: unknown): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const given = value as Json;
  return isObject(given.dashboard) ? given.dashboard : given;
}

/** Panels of a dashboard. Rows may contain panels, and old dashboards have only rows. */
function panelsOf(dashboard: Json): readonly Json[] {
  const found: Json[] = [];
  const add = (panels: unknown) => {
    for (const panel of list(panels).filter(isObject)) {
      if (found.length >= MAX_FOUND_PANELS) return;
      if (panel.type === 'row') add(panel.panels);
      else found.push(panel);
    }
  };
  add(dashboard.panels);
  for (const row of list(dashboard.rows).filter(isObject)) add(row.panels);
  return found.sort((a, b) => orderOf(a) - orderOf(b));
}

function orderOf({ gridPos }: Json): number {
  const { x, y } = object(gridPos);
  return number(y, 0) * 100 + number(x, 0);
}

function translated(panel: Json, notes: string[], known: ReadonlySet<string>): readonly BoardPanel[] {
  const title = text(panel.title, MAX_BOARD_NAME_CHARACTERS);
  const note = (what: string) => notes.push(`Panel “${title || 'untitled'}”: ${what}`);
  const type = String(panel.type);
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (kind === undefined) {
    note(`omitted: panel type ${type.slice(0, 40)} is not supported`);
    return [];
  }
  const targets = list(panel.targets).filter(isObject);
  const ofLoki = targets.filter(target => isLoki(target.datasource ?? panel.datasource, target));
  if (ofLoki.length === 0) {
    note('omitted: it has no Loki query');
    return [];
  }
  if (ofLoki.length < targets.length)
    note(`${targets.length - ofLoki.length} queries of other data sources are omitted`);
  const queries = ofLoki.flatMap<PanelQuery>(target => {
    const query = typeof target.expr === 'string' ? target.expr.trim() : '';
    if (query === '') return [];
    if (query.length > MAX_QUERY_CHARACTERS) {
      note(`a query of ${query.length} characters is omitted (limit: ${MAX_QUERY_CHARACTERS})`);
      return [];
    }
    const unknown = unknownVariables(query, known);
    if (unknown.length > 0) note(`uses ${unknown.join(', ')}, which the board does not define`);
    return [{ query, legend: text(target.legendFormat, MAX_BOARD_NAME_CHARACTERS).replace('__auto', '') }];
  });
  if (queries.length === 0) {
    note('omitted: its queries are empty');
    return [];
  }
  if (queries.length > MAX_QUERIES) note(`queries after the first ${MAX_QUERIES} are omitted`);
  if (Object.hasOwn(SHOWN_AS, type)) note(SHOWN_AS[type]);
  if (list(panel.transformations).length > 0) note('transformations are omitted');
  if (panel.repeat !== undefined && panel.repeat !== '') note('it is shown once instead of once per value');
  if (panel.libraryPanel !== undefined) note('it is no longer linked to its library panel');
  const { defaults, overrides } = object(panel.fieldConfig);
  if (list(overrides).length > 0) note('field overrides are omitted');
  const { unit, thresholds } = object(defaults);
  if (list(object(thresholds).steps).length > 1) note('thresholds are omitted');
  if (typeof unit === 'string' && unit !== '' && UNITS[unit] === undefined)
    note(`unit ${unit.slice(0, 40)} is shown as automatic`);
  const { w, h } = object(panel.gridPos);
  return [
    {
      title,
      kind: stacked(panel, kind),
      unit: (typeof unit === 'string' ? UNITS[unit] : undefined) ?? 'auto',
      // Old dashboards use a span of 12 columns.
      width: bounded(
        Math.round(number(w, number(panel.span, 6) * COLUMNS_RATIO) / COLUMNS_RATIO),
        GRID_COLUMNS,
      ),
      rows: bounded(Math.round(number(h, 8) / ROWS_RATIO), MAX_PANEL_ROWS),
      queries: queries.slice(0, MAX_QUERIES),
    },
  ];
}

function stacked(panel: Json, kind: PanelKind): PanelKind {
  if (kind !== 'lines') return kind;
  const { drawStyle, stacking } = object(object(object(panel.fieldConfig).defaults).custom);
  const mode = object(stacking).mode;
  if (drawStyle === 'bars' || panel.bars === true) return 'bars';
  return (mode !== undefined && mode !== 'none') || panel.stack === true ? 'area' : 'lines';
}

/**
 * Detects Loki by the type of the data source. Without a type, detects it by its name, or by a query in LogQL
 * if it is a variable.
 */
function isLoki(datasource: unknown, target: Json): boolean {
  if (isObject(datasource) && typeof datasource.type === 'string') return datasource.type === 'loki';
  if (typeof target.expr !== 'string') return false;
  if (typeof datasource === 'string' && /loki|logboom/i.test(datasource)) return true;
  // No other query language with `expr` has a stream selector with a pipeline or a range.
  return /\{[^}]*\}\s*(?:\||!=|$)/.test(target.expr.trim());
}

function variablesOf(dashboard: Json, notes: string[]): readonly BoardVariable[] {
  const found = list(object(dashboard.templating).list).filter(isObject);
  const variables: BoardVariable[] = [];
  for (const variable of found) {
    const name = String(variable.name).slice(0, 40);
    const note = (what: string) => notes.push(`Variable “${name}”: ${what}`);
    const read = variableOf(variable, note);
    if (read === undefined) continue;
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name) || variables.some(known => known.name === name)) {
      note('omitted: its name is not valid');
    } else if (variables.length >= MAX_BOARD_VARIABLES) {
      note(`omitted: a board has up to ${MAX_BOARD_VARIABLES} variables`);
    } else variables.push({ ...read, name });
  }
  return variables;
}

function variableOf(variable: Json, note: (what: string) => void): Omit<BoardVariable, 'name'> | undefined {
  const several = variable.multi === true || variable.includeAll === true;
  const current = object(variable.current).value;
  const values = (Array.isArray(current) ? current : [current])
    .filter(value => typeof value === 'string' && value !== '' && value !== '$__all')
    .map(value => text(value, MAX_BOARD_TEXT_CHARACTERS));
  const chosen = several ? values.slice(0, MAX_VARIABLE_VALUES) : values.slice(0, 1);
  const base = { label: '', selector: '', values: [], chosen, several };
  switch (variable.type) {
    case 'query': {
      const asked = labelQuery(variable.query ?? variable.definition);
      if (asked !== undefined) {
        if (text(variable.regex, 1) !== '') note('its regular expression is omitted');
        return { ...base, ...asked };
      }
      note('omitted: it does not list the values of a label');
      return undefined;
    }
    case 'custom':
      return { ...base, values: customValues(text(variable.query, MAX_QUERY_CHARACTERS)) };
    case 'constant':
    case 'textbox': {
      const value = text(variable.query, MAX_BOARD_TEXT_CHARACTERS);
      return {
        ...base,
        several: false,
        chosen: chosen.length > 0 ? chosen.slice(0, 1) : value === '' ? [] : [value],
      };
    }
    case 'interval':
      return {
        ...base,
        several: false,
        values: customValues(text(variable.query, MAX_BOARD_TEXT_CHARACTERS)),
      };
    case 'datasource':
      // The store is the only data source.
      return undefined;
    default:
      note(`omitted: variable type ${String(variable.type).slice(0, 40)} is not supported`);
      return undefined;
  }
}

/** Parses `label_values({app="a"}, pod)`, or its parts as an object. */
function labelQuery(query: unknown): { label: string; selector: string } | undefined {
  if (isObject(query)) {
    const label = text(query.label, MAX_BOARD_TEXT_CHARACTERS);
    if (/^[A-Za-z_]\w*$/.test(label)) return { label, selector: text(query.stream, MAX_QUERY_CHARACTERS) };
    return query.query === undefined ? undefined : labelQuery(query.query);
  }
  const asked = /^\s*label_values\(\s*(?:(\{[\s\S]*\})\s*,\s*)?([A-Za-z_]\w*)\s*\)\s*$/.exec(String(query));
  return asked === null ? undefined : { label: asked[2], selector: asked[1] ?? '' };
}

/** Values of a custom variable: `a, b : c` are the values a and c; `\,` is a comma. */
function customValues(query: string): readonly string[] {
  return query
    .split(/(?<!\\),/)
    .map(part => part.replaceAll('\\,', ',').trim())
    .map(part => part.split(' : ').at(-1) ?? '')
    .filter(part => part !== '')
    .slice(0, MAX_VARIABLE_VALUES);
}

function unknownVariables(query: string, known: ReadonlySet<string>): readonly string[] {
  const names = [...query.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name]) => name);
  return [...new Set(names)]
    .filter(name => !name.startsWith('__') && !known.has(name))
    .map(name => `$${name}`);
}

function timeOf(value: unknown, otherwise: string, notes: string[]): string {
  if (value === undefined || value === '') return otherwise;
  if (typeof value === 'string' && /^now(?:-\d{1,6}[smhdwy])?$/.test(value)) return value;
  const ms = typeof value === 'number' ? value : Date.parse(String(value));
  if (Number.isFinite(ms) && ms > 1e11) return String(Math.round(ms));
  notes.push(`Time ${String(value).slice(0, 40)} is shown as ${otherwise}`);
  return otherwise;
}

/** Rounds up to the next supported interval. */
function refreshOf(value: unknown): number {
  const [, count, unit] = /^(\d{1,6})([smh])$/.exec(String(value)) ?? [];
  if (count === undefined) return 0;
  const seconds = Number(count) * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h'];
  return REFRESH_SECONDS.find(known => known >= seconds && known > 0) ?? 3600;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown): Json {
  return isObject(value) ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function number(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function bounded(value: number, max: number): number {
  return Math.min(max, Math.max(1, value));
}

/** Text without control characters, cut to `max`. */
function text(value: unknown, max: number): string {
  if (typeof value !== 'string') return '';
  return value
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ')
    .slice(0, max)
    .toWellFormed();
}
