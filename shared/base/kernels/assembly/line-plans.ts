/**
 * Plans of the templates whose lines are classed by all values, for line-classes.ts: which values must be looked at in each row, because
 * not all values of their columns have the same form.
 *
 *     values     IP  day  time  request  status  bytes         values of a plan: all but the day, which is the same in all rows
 *     looked at                 request
 */
import { formOfColumn, ONE_VALUE } from './column-forms';
import {
  FIRST_PIECE_OF,
  MAX_PLAN_BYTES,
  MAX_TEMPLATES,
  PIECE_COLUMNS,
  PIECE_LENGTHS,
  PLAN_OF,
  PLANS,
  TEMPLATE_BYTES_OF,
  VARIABLES_OF,
} from './split-layout';

// Layout of a plan: values of the plan, values to look at, whether a line begins with a value, values of a row; then 2 bytes for each
// value of a row and 6 for each value to look at.
const LOOKED: usize = 1;
const BEGINS: usize = 2;
const COUNT: usize = 3;
const HEAD: usize = 4;
/** A value of the plan: its number in the row, and its number among those to look at or NOT_LOOKED. */
const VALUE_BYTES: usize = 2;
/** A value to look at: its numbers in the row and in the plan, the maximum words before it that are not of such values, its column. */
const LOOKED_BYTES: usize = 6;
export const NOT_LOOKED: u32 = 0xff;
/** Plan of a template for which there is no memory left. */
export const NO_PLAN: usize = 1;

let plans: usize = 0;

/** Begins a page. */
export function clearPlans(): void {
  memory.fill(PLAN_OF, 0, 4 * MAX_TEMPLATES);
  plans = 0;
}

/** Returns the plan of a template, or NO_PLAN. */
// @inline
export function planOf(number: usize, template: usize): usize {
  const known = load<u32>(PLAN_OF + (number << 2));
  return known !== 0 ? usize(known) : learnPlan(number, template);
}

function learnPlan(number: usize, template: usize): usize {
  const plan = makePlan(template);
  store<u32>(PLAN_OF + (number << 2), u32(plan));
  return plan;
}

function makePlan(template: usize): usize {
  const count = usize(load<u32>(template, VARIABLES_OF));
  if (plans + HEAD + count * (VALUE_BYTES + LOOKED_BYTES) > MAX_PLAN_BYTES) return NO_PLAN;
  const plan = PLANS + plans;
  const piece = usize(load<u32>(template, FIRST_PIECE_OF));
  let words = (load<u32>(template, TEMPLATE_BYTES_OF) >>> 1) + 1;
  let values: usize = 0;
  let looked: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    const column = load<u16>(PIECE_COLUMNS + ((piece + i) << 1));
    const form = formOfColumn(usize(column));
    if (form > ONE_VALUE) {
      const own = plan + HEAD + count * VALUE_BYTES + looked * LOOKED_BYTES;
      store<u8>(own, u8(i));
      store<u8>(own, u8(values), 1);
      store<u16>(own, u16(words), 2);
      store<u16>(own, column, 4);
    } else words++;
    if (form === ONE_VALUE) continue;
    const own = plan + HEAD + values * VALUE_BYTES;
    store<u8>(own, u8(i));
    store<u8>(own, form > ONE_VALUE ? u8(looked++) : u8(NOT_LOOKED), 1);
    values++;
  }
  store<u8>(plan, u8(values));
  store<u8>(plan, u8(looked), LOOKED);
  store<u8>(plan, load<u16>(PIECE_LENGTHS + (piece << 1)) === 0 ? 1 : 0, BEGINS);
  store<u8>(plan, u8(count), COUNT);
  plans += HEAD + count * VALUE_BYTES + looked * LOOKED_BYTES;
  return plan;
}

// @inline
export function valuesOfPlan(plan: usize): usize {
  return usize(load<u8>(plan));
}

// @inline
export function lookedOfPlan(plan: usize): usize {
  return usize(load<u8>(plan, LOOKED));
}

// @inline
export function beginsWithValue(plan: usize): bool {
  return load<u8>(plan, BEGINS) !== 0;
}

/** Returns the number in the row of a value of the plan. */
// @inline
export function numberInRow(plan: usize, value: usize): usize {
  return usize(load<u8>(plan + HEAD + value * VALUE_BYTES));
}

/** Returns the number of a value of the plan among those to look at, or NOT_LOOKED. */
// @inline
export function numberLooked(plan: usize, value: usize): u32 {
  return u32(load<u8>(plan + HEAD + value * VALUE_BYTES, 1));
}

/** Returns the address of the values to look at. */
// @inline
export function lookedAddress(plan: usize): usize {
  return plan + HEAD + usize(load<u8>(plan, COUNT)) * VALUE_BYTES;
}

// @inline
export function lookedInRow(looked: usize): usize {
  return usize(load<u8>(looked));
}

// @inline
export function lookedInPlan(looked: usize): usize {
  return usize(load<u8>(looked, 1));
}

// @inline
export function wordsBefore(looked: usize): u32 {
  return u32(load<u16>(looked, 2));
}

// @inline
export function lookedColumn(looked: usize): usize {
  return usize(load<u16>(looked, 4));
}

// @inline
export function nextLooked(looked: usize): usize {
  return looked + LOOKED_BYTES;
}
