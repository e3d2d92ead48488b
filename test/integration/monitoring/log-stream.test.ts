import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';

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
  const gone = run(program.replace('const lines', "process.stdout.on('error', () => {});\n const lines"));
  gone.child.stdout.destroy();
  expect(await gone.ended).toBe(7);
});
