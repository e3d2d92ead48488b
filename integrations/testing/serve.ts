// A stage for tests in other languages: prints one line of JSON, `{ url, token, account, sandboxUrl }`, and runs until its standard input
// ends. Arguments such as `PUBLIC_URL=https://filings.example.com` are settings of the daemon. A line `restart` or `stop` on the input does
// that to the daemon, and `done` is printed after it.
import { createInterface } from 'node:readline';
import { startStage } from './stage.ts';

const settings = process.argv
  .slice(2)
  .map((text) => [text.split('=', 1)[0] ?? '', text.slice(text.indexOf('=') + 1)]);
await using stage = await startStage(Object.fromEntries(settings));
const { url, token, account, sandbox } = stage;
console.log(JSON.stringify({ url, token, account, sandboxUrl: sandbox.baseUrl.replace(/\/v1$/, '') }));
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'restart') await stage.restart('SIGKILL');
  if (line === 'stop') await stage.stop('SIGKILL');
  console.log('done');
}
