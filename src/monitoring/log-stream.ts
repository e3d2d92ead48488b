import { setTimeout as delay } from 'node:timers/promises';
import { cutText } from '../json/cut-text.ts';

/** The output of the lines; the standard output of a process is one, whatever it leads to. */
export interface LogOutput {
  /** Bytes that its reader has yet to take. */
  readonly writableLength: number;
  /** Calls back, with an error if the text could not be written. */
  write(text: string, onWritten: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

const endsMs = 2_000;
// Bytes held for a reader, from which on lines are dropped until it has taken half of them.
const heldMax = 16 * 1024 * 1024;

/**
 * The destination of pino's lines. It writes all lines of one turn of the event loop together: at thousands
 * of callbacks a second, a write per line cost a tenth of the processor time. A line that is too long is cut.
 * Lines that cannot be written (a full disk, a reader that is gone or takes nothing) are dropped and counted:
 * the work goes on, and lines waiting for their reader take up to 16 MiB. `onLost` is called once lines can
 * be written again, with the number of lost lines and the reason. A crash of Node itself loses the lines of
 * its last turn.
 */
export function createLogStream(
  out: LogOutput,
  onLost: (lines: number, reason: string) => void = () => undefined,
) {
  let lines = '';
  let count = 0;
  let lost = 0;
  let unreported = 0;
  let reason = '';
  let isTorn = false;
  let isStalled = false;
  // Each write that failed has called back with the error, too.
  out.on('error', () => undefined);

  function lose(more: number, why: string): void {
    lost += more;
    unreported += more;
    reason = why;
  }

  function written(): void {
    isTorn = false;
    if (unreported === 0 || isStalled) return;
    const since = unreported;
    unreported = 0;
    onLost(since, reason);
  }

  function flush(): void {
    const [text, held] = [lines, count];
    [lines, count] = ['', 0];
    if (text === '') return;
    isStalled = out.writableLength > (isStalled ? heldMax / 2 : heldMax);
    if (isStalled) return lose(held, 'the reader of the log takes nothing');
    // A full disk may have taken a part of a line.
    out.write(isTorn ? `\n${text}` : text, (error) => {
      if (error == null) return written();
      isTorn = true;
      lose(held, error.message);
    });
  }

  return {
    write(line: string): void {
      if (lines === '') setImmediate(flush);
      lines += boundLine(line);
      count += 1;
    },
    /** Writes the lines still held, at once; for the end of the process. */
    flush,
    /** Number of lines so far that could not be written. */
    lost: () => lost,
    /**
     * Writes the lines still held and waits until the reader of a pipe has taken all lines, because the end
     * of the process discards the others. A reader that takes nothing is waited for two seconds.
     */
    async end(): Promise<void> {
      flush();
      const taken = new Promise<void>((resolve) => {
        out.write('', () => resolve());
      });
      await Promise.race([taken, delay(endsMs)]);
    },
  };
}

/** Maximum characters of a log line; what a client or partner sends may be longer than that. */
export const lineCharactersMax = 16_384;

// Maximum characters of a text, and members of a list, in a line that is too long as a whole.
const textCharactersMax = 1_000;
const listMembersMax = 100;

// The members of every line that say when it was written and what it is about.
const essential = new Set(['level', 'time', 'pid', 'hostname', 'account', 'msg']);

/**
 * A line of JSON as it is written: one of more than `lineCharactersMax` has its long texts and lists cut and
 * `cut` set; pure. It ends in a line break as before.
 */
export function boundLine(line: string): string {
  if (line.length <= lineCharactersMax) return line;
  const fields = shorten(JSON.parse(line)) as Record<string, unknown>;
  const shortened = toLine({ ...fields, cut: true });
  if (shortened.length <= lineCharactersMax) return shortened;
  const kept = Object.entries(fields).filter(([name]) => essential.has(name));
  return toLine({ ...Object.fromEntries(kept), cut: true });
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > textCharactersMax ? `${cutText(value, textCharactersMax)}…`.toWellFormed() : value;
  if (Array.isArray(value)) return value.slice(0, listMembersMax).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member)]));
}

function toLine(fields: object): string {
  return `${JSON.stringify(fields)}\n`;
}
