/** Errors of query text. The message is the reference's, whole (docs/dev/logql-semantics.md#message-form). */
import { BadRequestError } from '../../base/model/errors.ts';

/** Place in the query text, both from 1; the column counts code points. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** 400: the text is no query. `position` is absent for errors of meaning. */
export class ParseError extends BadRequestError {
  readonly position: Position | undefined;

  /** `message` is the part after `parse error at line L, col C: ` or `parse error : `. */
  constructor(message: string, position?: Position) {
    super(
      position === undefined
        ? `parse error : ${message}`
        : `parse error at line ${position.line}, col ${position.column}: ${message}`,
    );
    this.position = position;
  }
}
