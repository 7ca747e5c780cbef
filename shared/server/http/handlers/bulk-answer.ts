/**
 * Response to Elasticsearch's bulk request: the result of each item. Encoded in steps, because a request may
 * have 250,000 items.
 */
import type { Steps } from '../../../base/model/steps.ts';
import type { BulkFailure, BulkItem } from '../../../write/ingest/receivers/bulk-receiver.ts';
import { wellFormedJson } from '../respond.ts';

/** Items whose error contains the full reason. */
const MAX_REASONS = 1000;
const MAX_REASON_CHARACTERS = 512;
const ITEMS_PER_STEP = 256;
const CREATED = 201;
export const REFUSED = 400;

export const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'illegal_argument_exception',
  401: 'security_exception',
  413: 'content_too_long_exception',
  429: 'es_rejected_execution_exception',
  503: 'es_rejected_execution_exception',
};

export interface BulkAnswer {
  readonly items: readonly BulkItem[];
  /** Indices of the stored entries, ascending. */
  stored: Uint32Array;
  /** Reason why the other entries are not stored. */
  reason: string;
  status: number;
  readonly requestId: string;
}

interface BulkItems {
  /** Parts of the response: JSON of the items, separated by commas. */
  readonly parts: readonly Buffer[];
  readonly hasFailures: boolean;
}

/**
 * @param isShort true if the client selects a part with `filter_path`; agents select the status and the error
 */
export function* bulkItems(answer: BulkAnswer, isShort: boolean): Steps<BulkItems> {
  const { items, stored, reason, status, requestId } = answer;
  const refusal: BulkFailure = {
    type: ERROR_TYPES[status] ?? 'illegal_argument_exception',
    reason: reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed(),
  };
  const parts: Buffer[] = [];
  let next = 0;
  let failed = 0;
  const itemOf = ({ action: { operation, index, id }, entry, failure }: BulkItem, i: number) => {
    const isStored = entry >= 0 && stored[next] === entry;
    if (isStored) next++;
    const named = isShort ? {} : { _index: index, _id: id === '' ? `${requestId}-${i}` : id };
    if (isStored) {
      const result = isShort ? {} : { _version: 1, result: 'created' };
      return { [operation]: { ...named, ...result, status: CREATED } };
    }
    const error = failure ?? refusal;
    const hasReason = failed++ < MAX_REASONS;
    return {
      [operation]: {
        ...named,
        status: failure === undefined ? status : REFUSED,
        error: hasReason ? error : { type: error.type, reason: 'see the first items that failed' },
      },
    };
  };
  for (let start = 0; start < items.length; start += ITEMS_PER_STEP) {
    const some = items.slice(start, start + ITEMS_PER_STEP).map((item, i) => itemOf(item, start + i));
    const text = wellFormedJson(some).slice(1, -1);
    parts.push(Buffer.from(start === 0 ? text : `,${text}`));
    yield;
  }
  return { parts, hasFailures: failed > 0 };
}

/** @returns JSON */
export function bulkAnswer({ parts, hasFailures }: BulkItems, tookMs: number): Uint8Array {
  const head = Buffer.from(`{"took":${tookMs},"errors":${hasFailures},"items":[`);
  return Buffer.concat([head, ...parts, Buffer.from(']}')]);
}
