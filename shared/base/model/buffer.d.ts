/** Methods that Node's Buffer has and its types leave out; they are the fastest way from bytes to a string. */
interface Buffer {
  utf8Slice(start?: number, end?: number): string;
  latin1Slice(start?: number, end?: number): string;
}
