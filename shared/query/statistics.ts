/** What a query read and returned: the counters behind the `stats` of an answer (wire-format reference, 3.5). */
export interface QueryStatistics {
  /** Chunks whose records met the time range. */
  chunksReferenced: number;
  /** Chunks of which pages were read. */
  chunksRead: number;
  pagesRead: number;
  /** Bytes read from the store or the records, as stored. */
  compressedBytes: number;
  /** Bytes of lines and metadata, and lines, that were looked at. */
  lineBytes: number;
  metadataBytes: number;
  lines: number;
  /** Lines that were left after filters. */
  postFilterLines: number;
  /** Entries passed over because another chunk has them too. */
  duplicates: number;
  entriesReturned: number;
  streams: number;
  /** Nanoseconds spent on finding chunks and on reading pages. */
  chunkLookupNs: number;
  downloadNs: number;
}

export function newStatistics(): QueryStatistics {
  return {
    chunksReferenced: 0,
    chunksRead: 0,
    pagesRead: 0,
    compressedBytes: 0,
    lineBytes: 0,
    metadataBytes: 0,
    lines: 0,
    postFilterLines: 0,
    duplicates: 0,
    entriesReturned: 0,
    streams: 0,
    chunkLookupNs: 0,
    downloadNs: 0,
  };
}
