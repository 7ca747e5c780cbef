/** Errors in query text. The complete message is the reference's (docs/dev/logql-semantics.md#message-form). */
import { BadRequestError } from '../../base/model/errors.ts';

/** Position in the query text, both from 1; the column counts code points. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** 400: the text is not a valid query. `position` is absent for semantic errors. */
export class ParseError extends BadRequestError {
  readonly position: Position | undefined;

  /** @param message Part of the message after `parse error at line L, col C: ` or `parse error : ` */
  constructor(message: string, position?: Position) {
    super(
      position === undefined
        ? `parse error : ${message}`
        : `parse error at line ${position.line}, col ${position.column}: ${message}`,
    );
    this.position = position;
  }
}
