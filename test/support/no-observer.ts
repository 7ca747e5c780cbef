import type { IngestObserver } from '../../shared/write/ingest/observer.ts';

export const NO_OBSERVER: IngestObserver = { received: () => undefined, refused: () => undefined };
