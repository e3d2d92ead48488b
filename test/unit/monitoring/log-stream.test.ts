import { expect, test } from 'vitest';
import { createLogStream } from '../../../src/monitoring/log-stream.ts';

test('the lines of one turn of the event loop go out with one write, at its end', async () => {
  const writes: string[] = [];
  const stream = createLogStream({ write: (text) => writes.push(text) });
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
  const writes: string[] = [];
  const stream = createLogStream({ write: (text) => writes.push(text) });
  stream.write('a\n');
  stream.flush();
  stream.flush();
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).toEqual(['a\n']);
});
