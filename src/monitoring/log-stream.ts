import { setTimeout as delay } from 'node:timers/promises';
import { boundLine } from './log-line.ts';

/** Where pino writes its lines. */
export interface LogStream {
  write(line: string): void;
  /** Writes the lines still held, at once; for the end of the process. */
  flush(): void;
  /**
   * Writes the lines still held and waits until the reader of a pipe has taken all lines, because the end of
   * the process discards the others. A reader that takes nothing is waited for two seconds.
   */
  end(): Promise<void>;
}

const endsMs = 2_000;

/**
 * Writes all lines of one turn of the event loop at once: at thousands of callbacks a second, a write for
 * each line cost a tenth of the processor time. A line that is too long is cut; `render` gives it another
 * form. A crash of Node itself loses the lines of its last turn.
 */
export function createLogStream(
  out: { write(text: string, onWritten?: () => void): unknown },
  render: (line: string) => string = (line) => line,
): LogStream {
  let lines = '';
  function flush(): void {
    const text = lines;
    lines = '';
    if (text !== '') out.write(text);
  }
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += render(boundLine(line));
    },
    flush,
    async end() {
      flush();
      const taken = new Promise<void>((resolve) => {
        out.write('', resolve);
      });
      await Promise.race([taken, delay(endsMs)]);
    },
  };
}
