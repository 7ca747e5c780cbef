/**
 * Selects the encoding of a push by its content type (docs/dev/wire-format.md#content-type-and-encoding). Any media type except JSON is
 * protobuf: agents send many names for it.
 */
import { BadRequestError } from '../../base/model/errors.ts';

type PushFormat = 'json' | 'protobuf';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PARAMETER = /^\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+=("(?:[^"\\]|\\.)*"|[!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*$/;

/**
 * Returns the format. Throws BadRequestError with the message of Go's media type parser if the header is
 * missing or malformed.
 */
export function pushFormat(contentType: string | undefined): PushFormat {
  return mediaType(contentType ?? '') === 'application/json' ? 'json' : 'protobuf';
}

function mediaType(header: string): string {
  const [first, ...parameters] = splitParameters(header);
  const type = first.trim().toLowerCase();
  if (type === '') throw new BadRequestError('mime: no media type');
  const slash = type.indexOf('/');
  const major = slash < 0 ? type : type.slice(0, slash);
  if (!TOKEN.test(major)) {
    throw new BadRequestError(
      TOKEN.test(major[0] ?? '') ? 'mime: expected slash after first token' : 'mime: no media type',
    );
  }
  if (slash >= 0) {
    const minor = type.slice(slash + 1);
    if (!TOKEN.test(minor)) {
      throw new BadRequestError(
        TOKEN.test(minor[0] ?? '')
          ? 'mime: unexpected content after media subtype'
          : 'mime: expected token after slash',
      );
    }
  }
  for (let i = 0; i < parameters.length; i++) {
    const last = i === parameters.length - 1;
    if (last && parameters[i].trim() === '') continue;
    if (!PARAMETER.test(parameters[i])) throw new BadRequestError('mime: invalid media parameter');
  }
  return type;
}

/** Splits the header at its semicolons, except those inside a quoted value. */
function splitParameters(header: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let i = 0; i < header.length; i++) {
    const char = header[i];
    if (quoted && char === '\\') i++;
    else if (char === '"') quoted = !quoted;
    else if (char === ';' && !quoted) {
      parts.push(header.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(header.slice(from));
  return parts;
}
