import { expect, test } from 'vitest';
import { createLogStream } from '../../../src/monitoring/log-stream.ts';

/** An output that keeps what it gets; while `failure` is set it takes nothing. */
function collect() {
  const out = {
    writes: [] as string[],
    failure: null as Error | null,
    writableLength: 0,
    on: () => undefined,
    write(text: string, onWritten: (error?: Error | null) => void) {
      if (out.failure === null) out.writes.push(text);
      onWritten(out.failure);
    },
  };
  return out;
}

test('the lines of one turn of the event loop go out with one write, at its end', async () => {
  const out = collect();
  const { writes } = out;
  const stream = createLogStream(out);
  stream.write('a\n');
  await Promise.resolve();
  stream.write('b\n');
  expect(writes).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).toEqual(['a\nb\n']);
  stream.write('c\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).toEqual(['a\nb\n', 'c\n']);
});

test('what is still held goes out at once when the process ends', async () => {
  const out = collect();
  const { writes } = out;
  const stream = createLogStream(out);
  stream.write('a\n');
  stream.flush();
  stream.flush();
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).toEqual(['a\n']);
});

test('lines that cannot be written are counted, and reported once lines can be written again', () => {
  const out = collect();
  const reports: [number, string][] = [];
  const stream = createLogStream(out, (...report) => reports.push(report));
  const log = (...lines: readonly string[]) => {
    for (const line of lines) stream.write(`${line}\n`);
    stream.flush();
  };
  log('a');
  out.failure = new Error('ENOSPC: no space left on device');
  log('b', 'c');
  log('d');
  expect([stream.lost(), reports]).toEqual([3, []]);
  out.failure = null;
  log('e');
  log('f');
  // The write that failed may have taken half a line.
  expect(out.writes).toEqual(['a\n', '\ne\n', 'f\n']);
  expect(reports).toEqual([[3, 'ENOSPC: no space left on device']]);
  expect(stream.lost()).toBe(3);
});
