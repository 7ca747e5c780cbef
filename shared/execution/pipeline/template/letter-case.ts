/**
 * Maps letter case as Go does, one character to one character. JavaScript may return several (`ß` to `SS`),
 * or depend on the context (the final sigma). For ASCII, the usual case, both are equal. Bytes that are not
 * UTF-8 become U+FFFD, except in a text of only ASCII, which is returned unchanged.
 */
const ASCII = /^[\0-\x7f]*$/;
/**
 * Greek letters with an iota below. Their upper-case form as one character has a code 8 higher, or 9 for
 * three of them.
 */
const IOTA_BELOW = /^[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7]$/;
const IOTA_BELOW_ALONE = /^[\u1fb3\u1fc3\u1ff3]$/;

export function upper(text: string): string {
  return ASCII.test(text) ? text.toUpperCase() : mapCharacters(text, upperCharacter);
}

export function lower(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : mapCharacters(text, lowerCharacter);
}

const WORD_PART = /^[\p{L}\p{Nd}_]$/u;

/**
 * Returns the text with the first letter of each word in title case. Characters other than letters, digits
 * and underscores end a word.
 */
export function title(text: string): string {
  let out = '';
  let inWord = false;
  for (const char of text.toWellFormed()) {
    out += inWord ? char : titleCharacter(char);
    // Outside ASCII, only spaces end a word.
    inWord = WORD_PART.test(char) || (char > '\x7f' && !/^\s$/u.test(char));
  }
  return out;
}

function mapCharacters(text: string, map: (char: string) => string): string {
  let out = '';
  for (const char of text.toWellFormed()) out += map(char);
  return out;
}

function isOneCharacter(text: string): boolean {
  return text.length === 1 || (text.length === 2 && text.codePointAt(0)! > 0xffff);
}

function upperCharacter(char: string): string {
  if (IOTA_BELOW.test(char)) return String.fromCharCode(char.charCodeAt(0) + 8);
  if (IOTA_BELOW_ALONE.test(char)) return String.fromCharCode(char.charCodeAt(0) + 9);
  const mapped = char.toUpperCase();
  return isOneCharacter(mapped) ? mapped : char;
}

function lowerCharacter(char: string): string {
  const mapped = char.toLowerCase();
  // The dotted capital I becomes a plain i.
  return isOneCharacter(mapped) ? mapped : mapped[0];
}

/** Digraph letters have a separate title form: DŽ, LJ, NJ, DZ. */
const TITLE_FORMS = ['\u01c4\u01c5\u01c6', '\u01c7\u01c8\u01c9', '\u01ca\u01cb\u01cc', '\u01f1\u01f2\u01f3'];

function titleCharacter(char: string): string {
  const forms = TITLE_FORMS.find(group => group.includes(char));
  return forms === undefined ? upperCharacter(char) : forms[1];
}
