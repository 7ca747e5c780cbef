/** The part of typo-js that the tests use; the package has no types. */
declare module 'typo-js' {
  export default class Typo {
    constructor(dictionary: string);
    check(word: string): boolean;
  }
}
