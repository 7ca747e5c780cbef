/** API errors, and the position of the mistake in a query. */
export class ApiError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly requestId: string | undefined;

  constructor(message: string, status: number, requestId?: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.requestId = requestId;
  }
}

/** Lines and columns count from 1; columns are characters. */
const POSITION = /parse error at line (\d+), col (\d+): (?:syntax error: )?([\s\S]*)/;

export interface QueryMistake {
  /** Offset in the query. */
  readonly from: number;
  readonly message: string;
}

/** Position in `query` where the parser failed; undefined if the message has none. */
export function mistakeOf(message: string, query: string): QueryMistake | undefined {
  const found = POSITION.exec(message);
  if (found === null) return undefined;
  const [, line, column, text] = found;
  const lines = query.split('\n');
  const before = lines.slice(0, Number(line) - 1).reduce((sum, { length }) => sum + length + 1, 0);
  return { from: Math.min(before + Number(column) - 1, query.length), message: text.trim() };
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
