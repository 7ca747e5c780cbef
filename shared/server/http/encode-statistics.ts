/**
 * Encodes the `stats` of a response: the tree that clients parse strictly (docs/dev/wire-format.md#statistics; whole
 * numbers must be whole), and the flat groups of the contract.
 */
import type { QueryAnswer } from '../../read/query/engine.ts';

const NO_CACHE = Object.freeze({
  entriesFound: 0,
  entriesRequested: 0,
  entriesStored: 0,
  bytesReceived: 0,
  bytesSent: 0,
  requests: 0,
  downloadTime: 0,
  queryLengthServed: 0,
});

const NO_STORE = Object.freeze({
  totalChunksRef: 0,
  totalChunksDownloaded: 0,
  chunksDownloadTime: 0,
  queryReferencedStructuredMetadata: false,
  queryUsedV2Engine: false,
  chunk: {
    headChunkBytes: 0,
    headChunkLines: 0,
    decompressedBytes: 0,
    decompressedLines: 0,
    compressedBytes: 0,
    totalDuplicates: 0,
    postFilterLines: 0,
    headChunkStructuredMetadataBytes: 0,
    decompressedStructuredMetadataBytes: 0,
  },
  chunkRefsFetchTime: 0,
  congestionControlLatency: 0,
  pipelineWrapperFilteredLines: 0,
  dataobj: {
    prePredicateDecompressedRows: 0,
    prePredicateDecompressedBytes: 0,
    prePredicateDecompressedStructuredMetadataBytes: 0,
    postPredicateRows: 0,
    postPredicateDecompressedBytes: 0,
    postPredicateStructuredMetadataBytes: 0,
    postFilterRows: 0,
    pagesScanned: 0,
    pagesDownloaded: 0,
    pagesDownloadedBytes: 0,
    pageBatches: 0,
    totalRowsAvailable: 0,
    totalPageDownloadTime: 0,
    wireBytesTransferred: 0,
  },
});

const CACHES = [
  'chunk',
  'index',
  'result',
  'statsResult',
  'volumeResult',
  'seriesResult',
  'labelResult',
  'instantMetricResult',
  'logResult',
  'taskResult',
] as const;

export function statisticsTree({
  statistics: s,
  execNs,
}: Pick<QueryAnswer, 'statistics' | 'execNs'>): object {
  const seconds = execNs / 1e9;
  const bytes = s.lineBytes + s.metadataBytes;
  const perSecond = (amount: number) => (seconds > 0 ? Math.round(amount / seconds) : 0);
  const store = {
    ...NO_STORE,
    totalChunksRef: s.chunksReferenced,
    totalChunksDownloaded: s.chunksRead,
    chunksDownloadTime: Math.round(s.downloadNs),
    queryReferencedStructuredMetadata: s.metadataBytes > 0,
    chunk: {
      ...NO_STORE.chunk,
      decompressedBytes: bytes,
      decompressedLines: s.lines,
      compressedBytes: s.compressedBytes,
      totalDuplicates: s.duplicates,
      postFilterLines: s.postFilterLines,
      decompressedStructuredMetadataBytes: s.metadataBytes,
    },
    chunkRefsFetchTime: Math.round(s.chunkLookupNs),
    dataobj: { ...NO_STORE.dataobj, pagesScanned: s.pagesRead },
  };
  return {
    summary: {
      bytesProcessedPerSecond: perSecond(bytes),
      linesProcessedPerSecond: perSecond(s.lines),
      totalBytesProcessed: bytes,
      totalLinesProcessed: s.lines,
      execTime: seconds,
      queueTime: 0,
      subqueries: 0,
      totalEntriesReturned: s.entriesReturned,
      splits: 0,
      shards: 0,
      totalPostFilterLines: s.postFilterLines,
      totalStructuredMetadataBytesProcessed: s.metadataBytes,
    },
    querier: { store, querierExecTime: seconds },
    ingester: {
      totalReached: 0,
      totalChunksMatched: 0,
      totalBatches: 0,
      totalLinesSent: 0,
      store: NO_STORE,
      compressedBytes: 0,
      decompressedBytes: 0,
      decompressedLines: 0,
      headChunkBytes: 0,
      headChunkLines: 0,
      totalDuplicates: 0,
    },
    store: {
      compressedBytes: s.compressedBytes,
      decompressedBytes: bytes,
      decompressedLines: s.lines,
      chunksDownloadTime: s.downloadNs / 1e9,
      totalChunksRef: s.chunksReferenced,
      totalChunksDownloaded: s.chunksRead,
      totalDuplicates: s.duplicates,
    },
    cache: Object.fromEntries(CACHES.map(name => [name, NO_CACHE])),
    index: {
      totalChunks: s.chunksReferenced,
      postFilterChunks: s.chunksRead,
      shardsDuration: 0,
      usedBloomFilters: false,
      totalStreams: s.streams,
      chunkRefsLookupTime: s.chunkLookupNs / 1e9,
      bloomFilterTime: 0,
    },
  };
}
