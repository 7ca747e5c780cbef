/** File format of boards and saved queries. An exported file can be imported into any store. */
import type { Board, SavedQuery } from '../../../shared/base/model/board.ts';
import { readBoard, readSavedQuery } from '../../../shared/base/model/read-board.ts';
import { importGrafana, isGrafana } from './grafana-import.ts';

const FORMAT = 'logboom-explorer';
const VERSION = 1;
/** Maximum file size, because files are read whole. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_ITEMS = 300;

export interface ImportedFile {
  readonly boards: readonly Board[];
  readonly queries: readonly SavedQuery[];
  /** Sentences about what differs from the file. */
  readonly notes: readonly string[];
}

export function boardFileText(boards: readonly Board[], queries: readonly SavedQuery[]): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, boards, queries }, undefined, 2)}\n`;
}

/** Throws an Error whose message says what to do. */
export function importText(text: string): ImportedFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('The file is not JSON. Choose a file that was exported by the explorer or Grafana.');
  }
  if (isGrafana(value)) {
    const { board, notes } = importGrafana(value);
    return { boards: [board], queries: [], notes };
  }
  if (typeof value !== 'object' || value === null || !('format' in value) || value.format !== FORMAT) {
    throw new Error('The file has no boards. Choose a file that was exported by the explorer or Grafana.');
  }
  const file = value as { version?: unknown; boards?: unknown; queries?: unknown };
  if (file.version !== VERSION) {
    throw new Error(
      `The file has version ${String(file.version)}, but this page reads version ${VERSION}. Export it again.`,
    );
  }
  return {
    boards: listOf(file.boards).map(readBoard),
    queries: listOf(file.queries).map(readSavedQuery),
    notes: [],
  };
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value))
    throw new Error('The file is invalid: boards and queries must be lists. Export it again.');
  if (value.length > MAX_ITEMS)
    throw new Error(`The file has ${value.length} items (limit: ${MAX_ITEMS}). Export fewer.`);
  return value;
}
