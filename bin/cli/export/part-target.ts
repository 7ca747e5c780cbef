/** Formats and names of the files of one part of an export. */
import type { TextFormat } from '../../../shared/server/open-data/text-format.ts';

export type ExportFormat = TextFormat | 'parquet';

export const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  text: 'log',
  jsonl: 'jsonl',
  csv: 'csv',
  parquet: 'parquet',
};

export interface PartTarget {
  readonly folder: string;
  /** File name without extension: the start of the part. */
  readonly name: string;
  readonly format: ExportFormat;
  /** Tenant for Hive folders; undefined puts all files into one folder. */
  readonly hiveTenant?: string;
  /** Called before Parquet files get their names, which depend on the entries. */
  readonly onFiles?: (files: readonly string[]) => void;
}

export interface WrittenPart {
  readonly entries: number;
  /** Paths relative to the folder, in order. */
  readonly files: readonly string[];
}
