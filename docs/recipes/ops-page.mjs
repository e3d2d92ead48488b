// A page of one's own: follows the events of an account and shows them to every browser that opens it. The token stays here; browsers get
// only what this program passes on. FILING_WEBHOOKS_URL and FILING_WEBHOOKS_TOKEN (better one of the account than the operator's), PORT.
import { createServer } from 'node:http';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

const {
  FILING_WEBHOOKS_URL = 'http://127.0.0.1:3000',
  FILING_WEBHOOKS_TOKEN = '',
  PORT = '8090',
} = process.env;
const account = process.env.FILING_WEBHOOKS_ACCOUNT ?? 'default';
const browsers = new Set();
const latest = [];

const page = `<!doctype html><meta charset="utf-8"><title>Filings</title><h1>Filings</h1><ul></ul>
<script>
  const list = document.querySelector('ul');
  new EventSource('events').onmessage = ({ data }) => {
    const item = document.createElement('li');
    item.textContent = data; // as text, never as HTML: others wrote it
    list.prepend(item);
  };
</script>`;

createServer((request, response) => {
  if (request.url !== '/events')
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('retry: 3000\n\n');
  for (const line of latest) response.write(line);
  browsers.add(response);
  response.on('close', () => browsers.delete(response));
}).listen(Number(PORT), '127.0.0.1', function () {
  console.log(`listening on ${this.address().port}`);
});

let lastId = '';
for (;;) {
  await follow().catch((error) => console.error(error.message));
  await delay(1_000);
}

// One stream of the daemon; it ends after a quarter of an hour at the latest, and the next one goes on behind the last id.
async function follow() {
  const response = await fetch(`${FILING_WEBHOOKS_URL}/v1/accounts/${account}/events/stream`, {
    headers: { authorization: `Bearer ${FILING_WEBHOOKS_TOKEN}`, ...(lastId && { 'last-event-id': lastId }) },
  });
  if (!response.ok) throw new Error(`the daemon answered ${response.status}: ${await response.text()}`);
  let rest = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('id: ')) lastId = line.slice(4);
      if (line.startsWith('data: ')) show(JSON.parse(line.slice(6)));
    }
  }
}

function show({ timestamp, type, data }) {
  const text = [timestamp, type, data.status, data.filing?.insuredsName, data.filingId, data.rejectionReason]
    .filter(Boolean)
    .join(' · ');
  const line = `data: ${text.replaceAll(/\s+/g, ' ')}\n\n`;
  latest.push(line);
  if (latest.length > 50) latest.shift();
  for (const browser of browsers) browser.write(line);
}
