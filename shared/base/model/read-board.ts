/**
 * Reads saved queries and boards from JSON of clients and files. It checks every field, and refuses unknown
 * fields by name.
 */
import {
  type Board,
  type BoardPanel,
  type BoardVariable,
  CHART_KINDS,
  GRID_COLUMNS,
  MAX_BOARD_NAME_CHARACTERS,
  MAX_BOARD_TEXT_CHARACTERS,
  MAX_BOARD_VARIABLES,
  MAX_PANEL_ROWS,
  MAX_PANELS,
  MAX_QUERIES,
  MAX_QUERY_CHARACTERS,
  MAX_VARIABLE_VALUES,
  PANEL_KINDS,
  type PanelQuery,
  REFRESH_SECONDS,
  type SavedQuery,
  UNITS,
} from './board.ts';
import { BadRequestError } from './errors.ts';

const VARIABLE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;
const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const TIME = /^(?:now(?:-\d{1,6}[smhdwy])?|\d{12,14})$/;
/** Control characters except tab and line feed. Names and queries may not contain them. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;

type BoardFields = Readonly<Record<string, unknown>>;

/** Throws BadRequestError that names the field. */
export function readSavedQuery(value: unknown): SavedQuery {
  const given = fields('', value, ['name', 'description', 'queries', 'from', 'to', 'chart']);
  const queries = list('queries', given.queries, MAX_QUERIES).map((one, i) =>
    text(`queries[${i}]`, one, MAX_QUERY_CHARACTERS),
  );
  if (queries.length === 0 || queries.some(query => query.trim() === ''))
    throw new BadRequestError('queries: expected at least one query, and no empty query');
  const [from, to] = times(given);
  return {
    name: nameOf(given),
    description: optionalText('description', given.description),
    queries,
    from,
    to,
    chart: oneOf('chart', given.chart ?? 'lines', CHART_KINDS),
  };
}

/** Throws BadRequestError that names the field. */
export function readBoard(value: unknown): Board {
  const given = fields('', value, [
    ...['name', 'description', 'from', 'to', 'refreshSeconds', 'variables', 'panels'],
  ]);
  const variables = list('variables', given.variables ?? [], MAX_BOARD_VARIABLES).map((one, i) =>
    readVariable(`variables[${i}]`, one),
  );
  const names = variables.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new BadRequestError(`variables: the name ${twice} is used twice`);
  const [from, to] = times(given);
  const refreshSeconds = given.refreshSeconds ?? 0;
  if (!REFRESH_SECONDS.some(known => known === refreshSeconds))
    throw new BadRequestError(`refreshSeconds: expected one of ${REFRESH_SECONDS.join(', ')}`);
  return {
    name: nameOf(given),
    description: optionalText('description', given.description),
    from: from === '' ? 'now-1h' : from,
    to: to === '' ? 'now' : to,
    refreshSeconds: refreshSeconds as number,
    variables,
    panels: list('panels', given.panels ?? [], MAX_PANELS).map((one, i) => readPanel(`panels[${i}]`, one)),
  };
}

function readPanel(at: string, value: unknown): BoardPanel {
  const given = fields(at, value, ['title', 'kind', 'unit', 'width', 'rows', 'queries']);
  return {
    title: optionalText(`${at}.title`, given.title, MAX_BOARD_NAME_CHARACTERS),
    kind: oneOf(`${at}.kind`, given.kind ?? 'lines', PANEL_KINDS),
    unit: oneOf(`${at}.unit`, given.unit ?? 'auto', UNITS),
    width: whole(`${at}.width`, given.width ?? GRID_COLUMNS / 2, GRID_COLUMNS),
    rows: whole(`${at}.rows`, given.rows ?? 4, MAX_PANEL_ROWS),
    queries: list(`${at}.queries`, given.queries ?? [], MAX_QUERIES).map((one, i) =>
      readPanelQuery(`${at}.queries[${i}]`, one),
    ),
  };
}

function readPanelQuery(at: string, value: unknown): PanelQuery {
  const given = fields(at, value, ['query', 'legend']);
  return {
    query: text(`${at}.query`, given.query, MAX_QUERY_CHARACTERS),
    legend: optionalText(`${at}.legend`, given.legend, MAX_BOARD_NAME_CHARACTERS),
  };
}

function readVariable(at: string, value: unknown): BoardVariable {
  const given = fields(at, value, ['name', 'label', 'selector', 'values', 'chosen', 'several']);
  const name = text(`${at}.name`, given.name, MAX_BOARD_NAME_CHARACTERS);
  if (!VARIABLE_NAME.test(name))
    throw new BadRequestError(`${at}.name: expected a letter, then letters, digits and _ (up to 40)`);
  const label = optionalText(`${at}.label`, given.label, MAX_BOARD_TEXT_CHARACTERS);
  if (label !== '' && !LABEL_NAME.test(label)) throw new BadRequestError(`${at}.label: not a label name`);
  const several = given.several ?? false;
  if (typeof several !== 'boolean') throw new BadRequestError(`${at}.several: expected true or false`);
  const values = (key: 'values' | 'chosen') =>
    list(`${at}.${key}`, given[key] ?? [], MAX_VARIABLE_VALUES).map((one, i) =>
      text(`${at}.${key}[${i}]`, one, MAX_BOARD_TEXT_CHARACTERS),
    );
  const chosen = values('chosen');
  if (!several && chosen.length > 1)
    throw new BadRequestError(`${at}.chosen: expected at most one value, as several is false`);
  return {
    name,
    label,
    selector: optionalText(`${at}.selector`, given.selector, MAX_QUERY_CHARACTERS),
    values: values('values'),
    chosen,
    several,
  };
}

function fields(at: string, value: unknown, known: readonly string[]): BoardFields {
  const prefix = at === '' ? '' : `${at}: `;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequestError(`${prefix}expected a JSON object`);
  const strange = Object.keys(value).find(key => !known.includes(key));
  if (strange !== undefined)
    throw new BadRequestError(
      `${prefix}unknown field ${JSON.stringify(strange.slice(0, MAX_BOARD_NAME_CHARACTERS))}; fields are ${known.join(', ')}`,
    );
  return value as BoardFields;
}

function list(at: string, value: unknown, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadRequestError(`${at}: expected a list`);
  if (value.length > max) throw new BadRequestError(`${at}: ${value.length} entries, limit: ${max}`);
  return value;
}

function text(at: string, value: unknown, max: number): string {
  if (typeof value !== 'string') throw new BadRequestError(`${at}: expected a text`);
  if (value.length > max) throw new BadRequestError(`${at}: ${value.length} characters, limit: ${max}`);
  if (!value.isWellFormed() || CONTROL.test(value))
    throw new BadRequestError(`${at}: control characters and broken Unicode are not allowed`);
  return value;
}

function optionalText(at: string, value: unknown, max: number = MAX_BOARD_TEXT_CHARACTERS): string {
  return value === undefined ? '' : text(at, value, max);
}

function nameOf({ name }: BoardFields): string {
  const found = text('name', name, MAX_BOARD_NAME_CHARACTERS).trim();
  if (found === '') throw new BadRequestError('name: expected a name');
  return found;
}

function times({ from, to }: BoardFields): readonly [from: string, to: string] {
  const found = [optionalText('from', from), optionalText('to', to)] as const;
  for (const [i, one] of found.entries()) {
    if (one !== '' && !TIME.test(one))
      throw new BadRequestError(`${i === 0 ? 'from' : 'to'}: expected now, now-6h, or Unix milliseconds`);
  }
  return found;
}

function oneOf<T extends string>(at: string, value: unknown, known: readonly T[]): T {
  const found = known.find(one => one === value);
  if (found === undefined) throw new BadRequestError(`${at}: expected one of ${known.join(', ')}`);
  return found;
}

function whole(at: string, value: unknown, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new BadRequestError(`${at}: expected a whole number from 1 to ${max}`);
}
