/**
 * Takes most of the data of ICU (33 MB) out of a Node program: languages other than English, dictionaries, transliteration, and character
 * sets from before Unicode. Time zones, normalization and everything for English stay, as in a Node that is built with
 * `--with-intl=small-icu`.
 *
 * The program holds that data as a table of names and a block of entries. The table and what stays move together at its begin; the rest
 * of the block leaves the file. Addresses stay as they are, because the segment around it is divided in two, with nothing in between:
 *
 *     before    | segment: ... ICU's data ....................... the rest |
 *     after     | segment: ... kept |        (no memory)      | segment: the rest |
 *
 * Plain JavaScript without packages, for any Node from 20.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ELF, isElf, LOAD, NOTE, number, PROGRAM, withNumbers } from './elf.mjs';

/** `CmnD`, the format of ICU's data, 12 bytes behind its begin, behind a size and this magic number. */
const ICU_FORMAT = Buffer.from('CmnD');
const ICU_FORMAT_AT = 12;
const ICU_MAGIC = 0x27da;
const ICU_ALIGNMENT = 16;
/** A Node that was built without languages has some hundred entries. */
const MIN_ICU_ENTRIES = 1000;
const MAX_ICU_ENTRIES = 20_000;

/** `de.res`, `zone/sr_Cyrl_ME.res`: data of one language, unlike `res_index.res`. */
const OF_LANGUAGE = /^(?:\w+\/)?[a-z]{2,3}(?:_[A-Z0-9]\w*)?\.res$/;
const OF_ENGLISH = /^(?:\w+\/)?en(?:_\w+)?\.res$/;
/** Words of languages that are written without spaces, transliteration, and character sets from before Unicode. */
const UNUSED = /^brkitr\/\w+\.(?:dict|lstm)$|^translit\/|\.cnv$/;

/** Writes `target`, a smaller copy of an ELF file without symbols. Returns whether it did: not if the file looks unexpected. */
export function dropLanguages(file, target) {
  const bytes = readFileSync(file);
  if (!isElf(bytes) || number(bytes, ELF.sections) !== 0) return false;
  const icu = findIcu(bytes);
  const programs = icu && programsOf(bytes);
  const index = programs?.findIndex(each => isLoad(each) && contains(each, icu));
  const spare = programs?.findIndex(each => each.readUInt32LE(PROGRAM.kind) === NOTE);
  if (index === undefined || index < 0 || spare < 0) return false;

  const kept = keptData(bytes, icu);
  const granule = Math.max(
    ...programs
      .slice(index)
      .filter(isLoad)
      .map(each => number(each, PROGRAM.alignment)),
  );
  const cutFrom = Math.ceil((icu.at + kept.length) / granule) * granule;
  // No table has the end of the last entry, so it stays in the file.
  const cutTo = Math.floor(icu.lastAt / granule) * granule;
  if (cutTo <= cutFrom) return false;

  const result = Buffer.concat([bytes.subarray(0, cutFrom), bytes.subarray(cutTo)]);
  kept.copy(result, icu.at);
  result.fill(0, icu.at + kept.length, cutFrom);
  const headers = dividedAt(programs, { index, spare, cutFrom, cutTo });
  Buffer.concat(headers).copy(result, number(bytes, ELF.programs));
  writeFileSync(target, result);
  return true;
}

function isLoad(program) {
  return program.readUInt32LE(PROGRAM.kind) === LOAD;
}

function programsOf(bytes) {
  const [at, size] = [number(bytes, ELF.programs), bytes.readUInt16LE(ELF.programSize)];
  const count = bytes.readUInt16LE(ELF.programCount);
  return Array.from({ length: count }, (_, i) =>
    Buffer.from(bytes.subarray(at + i * size, at + (i + 1) * size)),
  );
}

function contains(program, icu) {
  const offset = number(program, PROGRAM.offset);
  return offset <= icu.at && icu.lastAt < offset + number(program, PROGRAM.fileSize);
}

/** Position of ICU's data, its header and its entries in order; undefined if there is none. */
function findIcu(bytes) {
  for (let found = bytes.indexOf(ICU_FORMAT); found >= 0; found = bytes.indexOf(ICU_FORMAT, found + 1)) {
    const at = found - ICU_FORMAT_AT;
    if (at < 0 || bytes.readUInt16LE(at + 2) !== ICU_MAGIC) continue;
    const base = at + bytes.readUInt16LE(at);
    const count = bytes.readUInt32LE(base);
    if (count < MIN_ICU_ENTRIES || count > MAX_ICU_ENTRIES) continue;
    const entries = Array.from({ length: count }, (_, i) => {
      const nameAt = base + bytes.readUInt32LE(base + 4 + 8 * i);
      const path = bytes.toString('latin1', nameAt, bytes.indexOf(0, nameAt));
      return {
        path,
        name: path.slice(path.indexOf('/') + 1),
        at: base + bytes.readUInt32LE(base + 8 + 8 * i),
      };
    });
    return { at, header: bytes.subarray(at, base), entries, lastAt: entries[count - 1].at };
  }
  return undefined;
}

/** The same data with the entries that the store needs. */
function keptData(bytes, { header, entries }) {
  const kept = entries
    .map((entry, i) => ({ ...entry, end: entries[i + 1]?.at }))
    // The last entry, of which the end is unknown, is of a language.
    .filter(({ name, end }) => end !== undefined && isKept(name));
  const names = kept.map(({ path }) => Buffer.from(`${path}\0`, 'latin1'));
  const table = Buffer.alloc(4 + 8 * kept.length);
  table.writeUInt32LE(kept.length, 0);
  const parts = [header, table, ...names];
  let length = table.length;
  names.forEach((name, i) => {
    table.writeUInt32LE(length, 4 + 8 * i);
    length += name.length;
  });
  kept.forEach(({ at, end }, i) => {
    const padding = Buffer.alloc((ICU_ALIGNMENT - (length % ICU_ALIGNMENT)) % ICU_ALIGNMENT);
    length += padding.length;
    table.writeUInt32LE(length, 8 + 8 * i);
    parts.push(padding, bytes.subarray(at, end));
    length += end - at;
  });
  return Buffer.concat(parts);
}

function isKept(name) {
  return !UNUSED.test(name) && (!OF_LANGUAGE.test(name) || OF_ENGLISH.test(name));
}

/**
 * The program headers with the segment of that index divided. A note, which is for debuggers, makes room for the second part. What
 * follows in the file has moved; in memory it has not.
 */
function dividedAt(programs, { index, spare, cutFrom, cutTo }) {
  const moved = program => {
    const offset = number(program, PROGRAM.offset);
    return offset >= cutTo ? withNumbers(program, { offset: offset - (cutTo - cutFrom) }) : program;
  };
  return programs.flatMap((program, i) => {
    if (i === spare) return [];
    if (i !== index) return [moved(program)];
    const [offset, size] = [number(program, PROGRAM.offset), number(program, PROGRAM.fileSize)];
    const before = cutFrom - offset;
    const address = number(program, PROGRAM.address) + (cutTo - offset);
    const after = offset + size - cutTo;
    return [
      withNumbers(program, { fileSize: before, memorySize: before }),
      withNumbers(program, {
        offset: cutFrom,
        address,
        physical: address,
        fileSize: after,
        memorySize: after,
      }),
    ];
  });
}
