/**
 * Constants of 16 bytes for loops. The engine builds such a constant again at each use, in three to five instructions. A
 * value from memory stays in a register, or is loaded by one instruction. So a loop reads its constants before it begins,
 * from scratch memory of its kernel.
 */

/** Returns 16 times the byte. Writes one byte of scratch memory. */
// @inline
export function heldByte(at: usize, byte: u32): v128 {
  store<u8>(at, u8(byte));
  return v128.load_splat<u8>(at);
}

/** Returns the value. Writes 16 bytes of scratch memory. */
// @inline
export function held(at: usize, value: v128): v128 {
  v128.store(at, value);
  return v128.load(at);
}
