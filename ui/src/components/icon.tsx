/**
 * Icons on a grid of 16 with strokes of 1.5. They are hidden from screen readers; the surrounding element has
 * the name.
 */
const PATHS = {
  logs: 'M2.5 4h8M2.5 8h11M2.5 12h6',
  labels:
    'M8.6 2.5H3.5a1 1 0 0 0-1 1v5.1a1 1 0 0 0 .3.7l4.9 4.9a1 1 0 0 0 1.4 0l5.1-5.1a1 1 0 0 0 0-1.4L9.3 2.8a1 1 0 0 0-.7-.3zM5.6 5.6h.01',
  patterns: 'M2.5 3h4v4h-4zM9.5 3h4v4h-4zM2.5 10h4v3.5h-4zM9.5 10h4v3.5h-4z',
  tail: 'M2 8.5h2.6l1.8-5 3 9.5 1.9-4.5H14',
  bell: 'M4 7a4 4 0 0 1 8 0c0 3 1.2 4.2 1.5 4.7H2.5C2.8 11.2 4 10 4 7zM6.6 13.8a1.6 1.6 0 0 0 2.8 0',
  trash: 'M2.8 4.2h10.4M6 4V2.6h4V4M4 4.2l.6 9.2h6.8l.6-9.2M6.7 7v3.8M9.3 7v3.8',
  usage: 'M2.5 13.5h11M4 11V7.5M8 11V3M12 11V6',
  status: 'M2.5 3h11v4h-11zM2.5 9.5h11v4h-11zM5 5h.01M5 11.5h.01',
  explain: 'M2.5 3h11L9.4 8v4.4L6.6 13.8V8z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M4.5 2.9v10.2L13 8z',
  stop: 'M4 4h8v8H4z',
  clock: 'M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2zM8 4.9V8l2.2 1.4',
  chevron: 'M6 3.8 10.2 8 6 12.2',
  down: 'M3.8 6 8 10.2 12.2 6',
  left: 'M10 3.8 5.8 8l4.2 4.2',
  plus: 'M8 3.2v9.6M3.2 8h9.6',
  minus: 'M3.2 8h9.6',
  close: 'M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4',
  copy: 'M5.8 5.8h7.4v7.4H5.8zM3.6 10.2h-.8V2.8h7.4v.8',
  check: 'M3 8.6l3.2 3.2L13 4.6',
  context: 'M2.5 8h11M5.5 4.2 8 1.8l2.5 2.4M5.5 11.8 8 14.2l2.5-2.4',
  wrap: 'M2.5 3.5h11M2.5 8h8.8a2.2 2.2 0 0 1 0 4.4H8M9.6 10.6 7.8 12.4l1.8 1.8M2.5 12.4h2.6',
  raw: 'M5.4 4.2 2 8l3.4 3.8M10.6 4.2 14 8l-3.4 3.8M9.2 3 6.8 13',
  order: 'M5 3v10M2.6 10.6 5 13l2.4-2.4M9 4h5M9 8h3.6M9 12h2.2',
  zoomOut: 'M7 2.7a4.3 4.3 0 1 1 0 8.6 4.3 4.3 0 0 1 0-8.6zM10.2 10.2l3.3 3.3M5 7h4',
  refresh: 'M13.2 8a5.2 5.2 0 1 1-1.6-3.8M13.2 2.6v2.6h-2.6',
  sun: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2M3.5 3.5l.8.8M11.7 11.7l.8.8M12.5 3.5l-.8.8M4.3 11.7l-.8.8',
  moon: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z',
  auto: 'M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2zM8 2.2v11.6M8 5l4.6-.8M8 8h5.8M8 11l4.6.8',
  keyboard: 'M1.8 4h12.4v8H1.8zM4.4 6.6h.01M7 6.6h.01M9.4 6.6h.01M11.8 6.6h.01M5 9.6h6',
  user: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM2.9 13.6a5.2 5.2 0 0 1 10.2 0',
  warning: 'M8 2.4 14.2 13H1.8zM8 6.4v3.2M8 11.4h.01',
  lines: 'M2 12.5 5.6 8l3 2.6L14 4',
  area: 'M2 12.5 5.6 7l3 2.6L14 4v9H2z',
  top: 'M2.5 3.5h11M2.5 8h7M2.5 12.5h4',
  heat: 'M2.5 2.5h5v5h-5zM8.5 2.5h5v5h-5zM2.5 8.5h5v5h-5zM8.5 8.5h5v5h-5zM4 4h2v2H4zM10 10h2v2h-2z',
  star: 'M8 2.2l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4-2.9-2.8 4-.6z',
  boards: 'M2.5 2.8h5v6h-5zM9.3 2.8h4.2v3H9.3zM9.3 7.6h4.2v5.6H9.3zM2.5 10.6h5v2.6h-5z',
  edit: 'M10.6 2.9l2.5 2.5L5.6 12.9l-3.1.6.6-3.1zM9 4.5 11.5 7',
  upload: 'M8 10.5V2.8M4.8 5.7 8 2.5l3.2 3.2M2.8 13.4h10.4',
  value: 'M3 5.2 5 4v8M8.5 5.5A2 2 0 0 1 12.5 5.6C12.5 7.5 8.5 9 8.5 12h4.2',
  bars: 'M3.5 13V8.5M8 13V3.5M12.5 13V6.5',
  fields: 'M2.5 3.2h11v9.6h-11zM6 3.2v9.6M8.2 6.2h3.2M8.2 9h3.2',
  split: 'M2.5 3.2h11v9.6h-11zM8 3.2v9.6',
  table: 'M2.5 3.2h11v9.6h-11zM2.5 6.6h11M6.6 6.6v6.2',
  download: 'M8 2.5v7.8M4.8 7.3 8 10.5l3.2-3.2M2.8 13.4h10.4',
  search: 'M7 2.7a4.3 4.3 0 1 1 0 8.6 4.3 4.3 0 0 1 0-8.6zM10.2 10.2l3.3 3.3',
  link: 'M6.6 9.4a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.4 6.6a2.6 2.6 0 0 0-3.7 0L3.5 8.8a2.6 2.6 0 0 0 3.7 3.7l.8-.8',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
