/**
 * Types of TypeScript become blanks, as Node itself does it for the program: lines and columns stay, so no source map has to be
 * made, kept and read.
 */
import { stripTypeScriptTypes } from 'node:module';

export default { process: source => ({ code: stripTypeScriptTypes(source) }) };
