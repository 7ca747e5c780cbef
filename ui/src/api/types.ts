/** Types of API responses, with the fields that the page uses. */
export type Labels = Readonly<Record<string, string>>;

interface Categories {
  readonly structuredMetadata?: Labels;
  readonly parsed?: Labels;
}

/** Timestamp in nanoseconds as text, the line, and with `categorize-labels` the label categories. */
type LogValue = readonly [string, string, Categories?];

export interface LogStream {
  readonly stream: Labels;
  readonly values: readonly LogValue[];
}

/** Timestamp in seconds, and the value as text. */
type Sample = readonly [number, string];

export interface MatrixSeries {
  readonly metric: Labels;
  readonly values: readonly Sample[];
}

export interface VectorSample {
  readonly metric: Labels;
  readonly value: Sample;
}

export interface Statistics {
  readonly summary: {
    readonly execTime: number;
    readonly totalBytesProcessed: number;
    readonly totalLinesProcessed: number;
    readonly totalEntriesReturned: number;
  };
}

type QueryData =
  | { readonly resultType: 'streams'; readonly result: readonly LogStream[]; readonly stats: Statistics }
  | { readonly resultType: 'matrix'; readonly result: readonly MatrixSeries[]; readonly stats: Statistics }
  | { readonly resultType: 'vector'; readonly result: readonly VectorSample[]; readonly stats: Statistics }
  | { readonly resultType: 'scalar'; readonly result: Sample; readonly stats: Statistics };

export interface QueryAnswer {
  readonly status: 'success';
  readonly warnings?: readonly string[];
  readonly data: QueryData;
}

export interface DetectedField {
  readonly label: string;
  readonly type: 'string' | 'int' | 'float' | 'boolean' | 'duration' | 'bytes';
  readonly cardinality: number;
  readonly parsers: readonly string[] | null;
}

export interface LabelVolume {
  readonly label: string;
  /** Bytes of the streams that have the label. */
  readonly bytes: number;
}

export interface DetectedLabel {
  readonly label: string;
  /** Number of distinct values. */
  readonly cardinality: number;
}

export interface StreamFigures {
  readonly streams: number;
  readonly entries: number;
  readonly bytes: number;
}

export interface Pattern {
  /** Pattern text with `<_>` for variable parts. */
  readonly pattern: string;
  readonly level: string;
  /** Start of each step in Unix seconds, and its number of lines. */
  readonly samples: readonly (readonly [number, number])[];
}

/** Numbers by name; other versions of the store may return fewer. */
export type ExplainFigures = Readonly<Record<string, number>>;

export interface ReadRound {
  readonly startMs: number;
  readonly ms: number;
  readonly reads: Readonly<Record<string, { readonly requests: number; readonly bytes: number }>>;
  readonly waitedFor: string;
  /** Longest wait for a free connection, ms; absent if no read waited. */
  readonly connectionMs?: number;
}

export interface Explained {
  readonly chunks?: ExplainFigures;
  readonly pages?: ExplainFigures;
  /** Stored bytes. */
  readonly bytes?: ExplainFigures;
  readonly textFilters?: ExplainFigures;
  /** Thread or function that planned the query. */
  readonly ranIn?: string;
  /** Reads of a remote store by round; each round waits for the one before. */
  readonly rounds?: readonly ReadRound[];
  /** Number of tasks by the thread or function that ran them. */
  readonly tasks?: ExplainFigures;
}
