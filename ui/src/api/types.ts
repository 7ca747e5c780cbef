/** Answers of the API, as far as the page reads them (docs of the endpoints have the rest). */
export type Labels = Readonly<Record<string, string>>;

export interface Categories {
  readonly structuredMetadata?: Labels;
  readonly parsed?: Labels;
}

/** Nanoseconds as text, the line, and with `categorize-labels` what the labels are. */
export type LogValue = readonly [string, string, Categories?];

export interface LogStream {
  readonly stream: Labels;
  readonly values: readonly LogValue[];
}

/** Seconds, and the number as text. */
export type Sample = readonly [number, string];

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

export type QueryData =
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
  /** Of the streams that have it. */
  readonly bytes: number;
}

export interface DetectedLabel {
  readonly label: string;
  /** How many values it has. */
  readonly cardinality: number;
}

export interface StreamFigures {
  readonly streams: number;
  readonly entries: number;
  readonly bytes: number;
}

export interface Pattern {
  /** Text with `<_>` where lines vary. */
  readonly pattern: string;
  readonly level: string;
  /** Unix seconds at which a step begins, and lines. */
  readonly samples: readonly (readonly [number, number])[];
}

/** Each figure with what it counts; a store of another version may tell fewer. */
export type Figures = Readonly<Record<string, number>>;

export interface ReadRound {
  readonly startMs: number;
  readonly ms: number;
  readonly reads: Readonly<Record<string, { readonly requests: number; readonly bytes: number }>>;
  readonly waitedFor: string;
  /** Longest wait for a free connection; absent if no read waited. */
  readonly connectionMs?: number;
}

export interface Explained {
  readonly chunks?: Figures;
  readonly pages?: Figures;
  /** As stored. */
  readonly bytes?: Figures;
  readonly textFilters?: Figures;
  /** The thread or function that planned the query. */
  readonly ranIn?: string;
  /** Reads of a distant store by round; each round waits for the one before. */
  readonly rounds?: readonly ReadRound[];
  /** Tasks of the query by the thread or function that ran them. */
  readonly tasks?: Figures;
}
