/** Methods of Node's Buffer that its types omit. They are the fastest way to decode bytes to a string. */
interface Buffer {
  utf8Slice(start?: number, end?: number): string;
  latin1Slice(start?: number, end?: number): string;
}
