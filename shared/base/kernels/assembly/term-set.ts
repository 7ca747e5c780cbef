/**
 * Distinct terms of a page: an open-addressing set of hashes, and a list of them. A page with too many terms
 * records a half, a quarter, and so on of them, selected by bits of the term.
 *
 * Terms are collected before they are looked up, so that lookups of several slots wait for memory in
 * parallel.
 */
import { BASE } from './layout';

const CAPACITY: u32 = 65536;
const SLOT_MASK: u32 = 2 * CAPACITY - 1;
const SLOT_BYTES: usize = 8 * usize(CAPACITY);
/** Maximum halvings of one page. */
const MAX_THINNING: u32 = 7;
/** Bits below this position are the kind of a term. */
const THINNING_SHIFT: u32 = 2;
/** Replaces the term 0, which marks a free slot: shared/execution/text-index/terms.ts. */
const ZERO_STAND_IN: u32 = 0x9e3779b2;

const SLOTS: usize = BASE;
const LIST: usize = SLOTS + SLOT_BYTES;
const WAITING: usize = LIST + 4 * usize(CAPACITY);
const WAITING_BYTES: usize = 16384;
/**
 * Maximum bytes of terms added between two calls of `settleIfFull`: those of a run with its address, and of
 * four grams.
 */
const MARGIN_BYTES: usize = 512;
export const TERM_SET_END: usize = WAITING + WAITING_BYTES + MARGIN_BYTES;

let count: u32 = 0;
let thinMask: u32 = 0;
let thinning: u32 = 0;
let overflowed: bool = false;
let waiting: usize = WAITING;

export const TERM_LIST: usize = LIST;
/** Address for terms that the host adds, and their maximum number. */
export const TERMS_TO_ADD: usize = WAITING;
export const MAX_TERMS_TO_ADD: u32 = u32(WAITING_BYTES >>> 2);

export function clearTermSet(): void {
  memory.fill(SLOTS, 0, SLOT_BYTES);
  count = 0;
  thinMask = 0;
  thinning = 0;
  overflowed = false;
  waiting = WAITING;
}

// @inline
export function add(term: u32): void {
  store<u32>(waiting, term);
  waiting += 4;
}

// @inline
export function settleIfFull(): void {
  if (waiting >= WAITING + WAITING_BYTES) settle();
}

export function settle(): void {
  const end = waiting;
  waiting = WAITING;
  for (let at = WAITING; at < end; at += 4) insert(load<u32>(at));
}

/** Adds the terms that the host has written to TERMS_TO_ADD. */
export function addTerms(added: u32): void {
  waiting = WAITING + 4 * usize(min(added, MAX_TERMS_TO_ADD));
  settle();
}

export function termCount(): u32 {
  return count;
}

/**
 * Returns the number of halvings, or more than MAX_THINNING if even the last halving leaves too many terms.
 */
export function termThinning(): u32 {
  return overflowed ? MAX_THINNING + 1 : thinning;
}

function insert(term: u32): void {
  const wanted = term === 0 ? ZERO_STAND_IN : term;
  for (;;) {
    let slot = SLOTS + (usize((wanted >>> 7) & SLOT_MASK) << 2);
    let found = load<u32>(slot);
    while (u32(found !== 0) & u32(found !== wanted)) {
      slot = SLOTS + ((slot + 4 - SLOTS) & (SLOT_BYTES - 1));
      found = load<u32>(slot);
    }
    if ((wanted & thinMask) !== 0) return;
    if (count < CAPACITY) {
      // A known term is written, too: whether it is new cannot be predicted, so there is no branch.
      store<u32>(slot, wanted);
      store<u32>(LIST + (usize(count) << 2), wanted);
      count += u32(found === 0);
      return;
    }
    if (found !== 0) return;
    thin();
  }
}

function thin(): void {
  const kept = count;
  memory.fill(SLOTS, 0, SLOT_BYTES);
  count = 0;
  if (thinning === MAX_THINNING) {
    // No further term passes this mask.
    overflowed = true;
    thinMask = ~0;
    return;
  }
  thinning++;
  thinMask = ((1 << thinning) - 1) << THINNING_SHIFT;
  // Rebuild in place: the write position never passes the read position.
  for (let i: u32 = 0; i < kept; i++) insert(load<u32>(LIST + (usize(i) << 2)));
}
