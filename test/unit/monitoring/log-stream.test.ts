import { expect, test } from 'vitest';
import { createLogStream } from '../../../src/monitoring/log-stream.ts';
import { createPrettyLine } from '../../../src/monitoring/pretty-line.ts';

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

test('on a terminal a line is written for people: the time, the level, the name and its fields', async () => {
  let written = '';
  const render = createPrettyLine({ colours: false });
  const stream = createLogStream({ write: (text: string) => (written += text) }, render);
  stream.write(
    '{"level":40,"time":1795255203120,"pid":1,"hostname":"h","account":"acme","msg":"poll.failed"}\n',
  );
  stream.write('not JSON\n');
  stream.flush();
  expect(written).toMatch(/^\[\d\d:\d\d:\d\d\.120\] WARN: poll\.failed \{"account":"acme"\}\nnot JSON\n$/);
  expect(createPrettyLine({ colours: true })('{"level":40,"time":1,"msg":"a"}\n')).toContain('\u001b[');
});
