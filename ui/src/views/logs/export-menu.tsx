/** Saves the loaded lines, or all lines of the result, as text, JSON lines or CSV, oldest first, with progress. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, messageOf } from '../../api/errors.ts';
import { fetchExport } from '../../api/export.ts';
import { nsOf } from '../../api/queries.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { Popover } from '../../components/popover.tsx';
import type { ListColumn } from '../../lines/columns.ts';
import {
  csvOf,
  type ExportFormat,
  entryOf,
  exportedParts,
  exportHeader,
  exportText,
  MAX_EXPORT_LINES,
} from '../../lines/export-rows.ts';
import type { LogRow } from '../../lines/rows.ts';
import { bytesText, countText } from '../../time/quantities.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import type { Order } from './logs-state.ts';

interface ExportMenuProps {
  readonly rows: readonly LogRow[];
  readonly columns: readonly ListColumn[];
  /** Log query as sent. */
  readonly query: string;
  readonly range: ResolvedRange;
  readonly order: Order;
  /** Number of lines in the whole range; undefined while counting. */
  readonly total: number | undefined;
}

interface DownloadProgress {
  readonly lines: number;
  readonly bytes: number;
}

type ExportScope = 'loaded' | 'all';

export function ExportMenu(props: ExportMenuProps) {
  const [open, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  return (
    <Popover
      open={open}
      onClose={close}
      name="Download"
      button={
        <IconButton
          icon="download"
          name="Download lines"
          aria-expanded={open}
          onClick={() => setOpen(before => !before)}
        />
      }
    >
      <Panel {...props} />
    </Popover>
  );
}

function Panel({ rows, columns, query, range, order, total }: ExportMenuProps) {
  const [what, setWhat] = useState<ExportScope>('all');
  const [format, setFormat] = useState<ExportFormat>('jsonl');
  const [progress, setProgress] = useState<DownloadProgress>();
  const [problem, setProblem] = useState<string>();
  const controller = useRef<AbortController>();
  // Closing the panel aborts its download.
  useEffect(() => () => controller.current?.abort(), []);

  const saveAll = async () => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    const parts: (Blob | string)[] = [exportHeader(format, columns)];
    let lines = 0;
    let bytes = 0;
    setProblem(undefined);
    setProgress({ lines, bytes });
    try {
      const found = exportedParts({
        ask: part => fetchExport({ query, ...part, format: format === 'text' ? 'text' : 'jsonl' }, signal),
        range: { startNs: nsOf(range.fromMs), endNs: nsOf(range.toMs) },
      });
      for await (const { body, entries } of found) {
        const blob = format === 'csv' ? new Blob([csvOf(await body.text(), columns)]) : body;
        parts.push(blob);
        lines += entries;
        bytes += blob.size;
        setProgress({ lines, bytes });
      }
      if (!signal.aborted) save(parts, format);
    } catch (error) {
      if (!isAbort(error)) setProblem(messageOf(error));
    }
    setProgress(undefined);
  };
  const saveLoaded = () => {
    const entries = (order === 'newest' ? rows.toReversed() : rows).map(entryOf);
    save([exportHeader(format, columns), exportText(entries, format, columns)], format);
  };

  const isAll = what === 'all';
  const known = Math.max(total ?? 0, rows.length);
  return (
    <div class="export-panel">
      <Choice
        name="Lines to save"
        value={what}
        onChange={setWhat}
        options={[
          { value: 'all', label: total === undefined ? 'Whole result' : `All ${countText(known)}` },
          { value: 'loaded', label: `Loaded ${countText(rows.length)}` },
        ]}
      />
      <Choice
        name="Format"
        value={format}
        onChange={setFormat}
        options={[
          { value: 'jsonl', label: 'JSON lines' },
          { value: 'text', label: 'Text' },
          { value: 'csv', label: 'CSV' },
        ]}
      />
      {isAll && known > MAX_EXPORT_LINES && (
        <p class="column-hint">Only the oldest {countText(MAX_EXPORT_LINES)} lines are saved.</p>
      )}
      {problem !== undefined && (
        <p class="export-problem" role="alert">
          {problem}
        </p>
      )}
      {progress === undefined ? (
        <Button kind="primary" onClick={isAll ? saveAll : saveLoaded}>
          Save
        </Button>
      ) : (
        <>
          <progress aria-label="Download" max={known || undefined} value={progress.lines} />
          <p class="column-hint numeric" role="status">
            {countText(progress.lines)}
            {known > 0 && ` of ${countText(Math.max(known, progress.lines))}`} lines ·{' '}
            {bytesText(progress.bytes)}
          </p>
          <Button onClick={() => controller.current?.abort()}>Cancel</Button>
        </>
      )}
    </div>
  );
}

const FILES: Readonly<Record<ExportFormat, readonly [name: string, type: string]>> = {
  jsonl: ['logs.jsonl', 'application/x-ndjson'],
  text: ['logs.txt', 'text/plain'],
  csv: ['logs.csv', 'text/csv'],
};
/** How long the file is kept, because a browser reads it after the click. */
const KEPT_MS = 60_000;

function save(parts: readonly (Blob | string)[], format: ExportFormat): void {
  const [name, type] = FILES[format];
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
