import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLogStream } from '../../../src/monitoring/log-stream.ts';

// A process that logs a burst and exits, as a daemon that crashes while it is busy.
const program = `
  import { createLogStream } from '${new URL('../../../src/monitoring/log-stream.ts', import.meta.url).href}';
  const lines = createLogStream(process.stdout);
  for (let i = 0; i < 20_000; i += 1) lines.write(JSON.stringify({ i, msg: 'a line of the usual length '.repeat(3) }) + '\\n');
  await lines.end();
  process.exit(7);
`;

function run(source: string) {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => void child.on('close', resolve));
  return { child, ended };
}

test('a burst before the end of the process arrives whole, however late the reader of the pipe begins', async () => {
  const { child, ended } = run(program);
  await new Promise((resolve) => child.stdout.once('readable', resolve));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  expect(await ended).toBe(7);
  const lines = text.trimEnd().split('\n');
  expect(lines).toHaveLength(20_000);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ i: 19_999 });
});

test('a reader that takes nothing, or is gone, does not keep the process', async () => {
  const stuck = run(program);
  const exited = new Promise((resolve) => void stuck.child.on('exit', resolve));
  expect(await exited).toBe(7);
  stuck.child.stdout.destroy();
  const gone = run(program);
  gone.child.stdout.destroy();
  expect(await gone.ended).toBe(7);
});

test('a reader that takes nothing for long costs the lines, not the memory', async () => {
  const reader = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
  const read = readText(reader.stdout);
  reader.kill('SIGSTOP');
  const reports: [number, string][] = [];
  const stream = createLogStream(reader.stdin, (...report) => reports.push(report));
  const line = `${'x'.repeat(9_999)}\n`;
  const writeSome = async (turns: number) => {
    for (let i = 0; i < turns; i += 1) {
      for (let j = 0; j < 100; j += 1) stream.write(line);
      // oxlint-disable-next-line no-await-in-loop
      await turn();
    }
  };
  await writeSome(40);
  expect(reader.stdin.writableLength).toBeLessThan(18 * 1024 * 1024);
  const lost = stream.lost();
  expect(lost).toBeGreaterThan(2_000);
  reader.kill('SIGCONT');
  await expect.poll(() => reader.stdin.writableLength).toBe(0);
  await writeSome(1);
  await stream.end();
  reader.stdin.end();
  await once(reader, 'close');
  expect(reports).toEqual([[lost, 'the reader of the log takes nothing']]);
  expect(stream.lost()).toBe(lost);
  expect((await read).length).toBe((4_100 - lost) * line.length);
});
