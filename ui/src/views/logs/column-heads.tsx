/** Column names. Drag a name to move the column; drag its edge, or use the arrow keys on it, to resize. */
import { useRef, useState } from 'preact/hooks';
import { boundWidth, type ListColumn, MAX_WIDTH_PX, MIN_WIDTH_PX, movedColumn } from '../../lines/columns.ts';

interface ColumnHeadsProps {
  readonly columns: readonly ListColumn[];
  readonly onColumns: (columns: readonly ListColumn[]) => void;
}

const KEY_PX = 10;

export function ColumnHeads({ columns, onColumns }: ColumnHeadsProps) {
  const dragged = useRef<string>();
  const drop = (at: number) => {
    const from = columns.findIndex(({ name }) => name === dragged.current);
    if (from !== -1 && from !== at) onColumns(movedColumn(columns, from, at));
    dragged.current = undefined;
  };
  return (
    <div class="column-heads">
      <span class="column-time">Time</span>
      {columns.map((column, i) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the list of columns moves them with the keyboard too
        <span
          key={column.name}
          class="column-head"
          style={{ width: `${column.widthPx}px` }}
          draggable
          onDragStart={event => {
            dragged.current = column.name;
            event.dataTransfer?.setData('text/plain', column.name);
          }}
          onDragOver={event => event.preventDefault()}
          onDrop={event => {
            event.preventDefault();
            drop(i);
          }}
        >
          <span class="column-name" title={column.name}>
            {column.name}
          </span>
          <WidthHandle
            column={column}
            onWidth={widthPx =>
              onColumns(columns.map(one => (one.name === column.name ? { ...one, widthPx } : one)))
            }
          />
        </span>
      ))}
      <span>Line</span>
    </div>
  );
}

interface WidthHandleProps {
  readonly column: ListColumn;
  readonly onWidth: (widthPx: number) => void;
}

function WidthHandle({ column: { name, widthPx }, onWidth }: WidthHandleProps) {
  const [start, setStart] = useState<number>();
  const [dragPx, setDragPx] = useState(0);
  const shownPx = boundWidth(widthPx + dragPx);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <span
      class={`column-width ${start === undefined ? '' : 'moving'}`}
      style={{ left: `${shownPx}px` }}
      role="separator"
      tabIndex={0}
      draggable
      aria-orientation="vertical"
      aria-label={`Width of ${name}`}
      aria-valuenow={shownPx}
      aria-valuemin={MIN_WIDTH_PX}
      aria-valuemax={MAX_WIDTH_PX}
      onDragStart={event => {
        // The name moves the column, its edge does not.
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setStart(event.clientX);
      }}
      onPointerMove={event => {
        if (start !== undefined) setDragPx(event.clientX - start);
      }}
      onPointerUp={() => {
        if (shownPx !== widthPx) onWidth(shownPx);
        setStart(undefined);
        setDragPx(0);
      }}
      onPointerCancel={() => {
        setStart(undefined);
        setDragPx(0);
      }}
      onKeyDown={event => {
        const by = { ArrowLeft: -KEY_PX, ArrowRight: KEY_PX }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        // These keys move the time range elsewhere.
        event.stopPropagation();
        onWidth(boundWidth(widthPx + by));
      }}
    />
  );
}
