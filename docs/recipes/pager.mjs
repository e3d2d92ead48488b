// Turns callbacks into alerts: a filing that is REJECTED fires, also when it is so at first sight, and is resolved when it leaves REJECTED or a later filing answers it. Alerts go to the Alertmanager at
// ALERTMANAGER_URL, or to PagerDuty with the integration key PAGERDUTY_KEY. WEBHOOK_SECRET is the subscription's; PORT the port to listen on.
// npm install standardwebhooks; subscribe it to filing.*
import { createServer } from 'node:http';
import process from 'node:process';
import { Webhook } from 'standardwebhooks';

const { ALERTMANAGER_URL, PAGERDUTY_KEY = '', WEBHOOK_SECRET = '', PORT = '8080' } = process.env;
const pagerDutyUrl = process.env.PAGERDUTY_URL ?? 'https://events.pagerduty.com/v2/enqueue';
const webhook = new Webhook(WEBHOOK_SECRET);
// Of each filing the sequence of the last alert. A repeat may arrive after a later event, and must not fire what is resolved.
const latest = new Map();

createServer((request, response) => void answer(request, response)).listen(
  Number(PORT),
  '127.0.0.1',
  function () {
    console.log(`listening on ${this.address().port}`);
  },
);

async function answer(request, response) {
  const status = await take(request).catch((error) => {
    console.error(error.message);
    return error.name === 'WebhookVerificationError' ? 400 : 500;
  });
  response.writeHead(status).end();
}

async function take(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { type, timestamp, data } = webhook.verify(Buffer.concat(chunks), request.headers);
  const isRejected = data.status === 'REJECTED' && type !== 'filing.removed' && !data.answeredBy;
  const filing = JSON.stringify([data.account, data.filingId]);
  const wasRejected = data.previousStatus === 'REJECTED' || latest.has(filing);
  if (!isRejected && !wasRejected) return 204;
  // A snapshot of a filing without events has the sequence 0.
  if (data.sequence <= (latest.get(filing) ?? -1)) return 204;
  const sent = ALERTMANAGER_URL
    ? await tellAlertmanager(isRejected, timestamp, data)
    : await tellPagerDuty(isRejected, data);
  // Anything but a 2xx makes filing-webhooks call again later, so no alert is lost while the other side is down.
  if (!sent.ok) return 502;
  latest.set(filing, data.sequence);
  return 204;
}

// Alertmanager forgets alerts that nobody repeats, so a rejection is given a week.
function tellAlertmanager(isRejected, timestamp, { account, filingId, rejectionReason, filing, details }) {
  const alert = {
    labels: { alertname: 'FilingRejected', severity: 'warning', account, filing: filingId },
    annotations: { summary: summary(filingId, filing ?? details), description: rejectionReason ?? '' },
    startsAt: timestamp,
    endsAt: isRejected ? new Date(Date.parse(timestamp) + 7 * 86_400_000).toISOString() : timestamp,
  };
  return post(`${ALERTMANAGER_URL}/api/v2/alerts`, [alert]);
}

function tellPagerDuty(isRejected, { account, filingId, rejectionReason, filing, details }) {
  return post(pagerDutyUrl, {
    routing_key: PAGERDUTY_KEY,
    event_action: isRejected ? 'trigger' : 'resolve',
    dedup_key: `filing-rejected/${account}/${filingId}`,
    payload: {
      summary: `${summary(filingId, filing ?? details)}: ${rejectionReason ?? ''}`.slice(0, 1024),
      source: account,
      severity: 'warning',
    },
  });
}

function summary(filingId, filing) {
  return `Filing ${filingId} of ${filing?.insuredsName ?? 'unknown'} was rejected`;
}

function post(url, body) {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
}
