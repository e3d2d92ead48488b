import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startStage, type DeliveryStage, type ShownAttempt } from '../support/daemon/delivery-stage.ts';
import { createTestAuthority } from '../support/receivers/certificates.ts';
import { startMailServer, type MailServer } from '../support/receivers/mail-server.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
const slow = { timeout: 20_000, interval: 50 };
const subscriptions = '/v1/accounts/default/subscriptions';
const url = 'mailto:claims@agency.example';
const password = 's3cret-p4ssword-of-the-mail-server';
let mails: MailServer;
let stage: DeliveryStage;
let deliverer: DaemonProcess;

beforeAll(async () => {
  await using authority = await createTestAuthority();
  const ca = join(tmpdir(), `filing-webhooks-mail-ca-${process.pid}.pem`);
  await writeFile(ca, authority.cert);
  mails = await startMailServer({
    secure: true,
    ...(await authority.issue('mail server')),
    onAuth: ({ username, password: given }, _session, callback) =>
      given === password ? callback(null, { user: username }) : callback(new Error('wrong password')),
  });
  stage = await startStage(redis, 1, {
    SMTP_URL: `smtps://filings:${password}@127.0.0.1:${mails.port}`,
    SMTP_FROM: 'Filing alerts <alerts@sender.example>',
    SMTP_ALLOW_DOMAINS: 'agency.example',
    NODE_EXTRA_CA_CERTS: ca,
    PUBLIC_URL: 'https://filings.example.com',
    ROLES: 'api,poll',
  });
  deliverer = await startDeliverer();
});

const startDeliverer = () => startDaemonProcess({ ...stage.environment, ROLES: 'deliver' });

beforeEach(() => {
  mails.onRecipient = () => 'take';
  mails.onMail = () => 'take';
});

afterAll(async () => {
  await deliverer[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
  await redis.cleanup();
});

interface Registered {
  readonly id: string;
  readonly format: string;
  readonly secret: string | null;
}

async function subscribe(settings: Record<string, unknown> = {}): Promise<string> {
  const { id } = await stage.daemon.api.ok<Registered>('POST', subscriptions, { url, ...settings });
  return `${subscriptions}/${id}`;
}

const attemptsOf = (path: string) => stage.all<ShownAttempt>(`${path}/attempts`);

test('events and test calls arrive as e-mails over TLS, a filing in one thread, with the id of the event', async () => {
  const from = mails.taken.length;
  const path = await subscribe();
  expect(await stage.daemon.api.ok('GET', path)).toMatchObject({ url, format: 'email' });
  await stage.move();
  await vi.waitFor(() => expect(mails.taken).toHaveLength(from + 1), slow);
  await stage.move();
  await vi.waitFor(() => expect(mails.taken).toHaveLength(from + 2), slow);
  const [first, second] = mails.taken.slice(from).map(({ email }) => email);
  const ids = (await attemptsOf(path)).map(({ eventId }) => `<${eventId}@sender.example>`);
  expect([second?.messageId, first?.messageId]).toEqual(ids);
  expect(first?.references).toMatch(/^<filing_[0-9a-f]{32}@sender\.example>$/);
  expect(second?.references).toBe(first?.references);
  expect(first?.subject).toMatch(/^(?:Unpaid|Paid|Pending): /);
  expect(first?.text).toContain('Open: https://filings.example.com/#/accounts/default/filing/f0');
  const ping = await stage.daemon.api.ok('POST', `${path}/test`);
  expect(ping).toMatchObject({ outcome: 'delivered', statusCode: 250 });
  expect(mails.taken.at(-1)?.email.subject).toMatch(/^Test: messages arrive/);
  const [tested] = await stage.all<{ id: string }>(`${path}/attempts`);
  const shown = await stage.daemon.api.ok('GET', `/v1/accounts/default/attempts/${tested?.id}`);
  expect(shown).toMatchObject({ request: { url, headers: { 'content-type': 'application/json' } } });
  await stage.daemon.api.ok('DELETE', path);
});

test('a 451 is tried again, and a 550 is given up at once', async () => {
  const from = mails.taken.length;
  const path = await subscribe();
  const seen: (string | undefined)[] = [];
  mails.onMail = ({ email }) => {
    seen.push(email.messageId);
    return seen.length === 1 ? { code: 451, text: 'Greylisted' } : 'take';
  };
  await stage.move();
  await vi.waitFor(() => expect(mails.taken).toHaveLength(from + 1), slow);
  expect(seen).toHaveLength(2);
  expect(new Set(seen).size).toBe(1);
  mails.onRecipient = () => ({ code: 550, text: 'No such user here' });
  await stage.move();
  await vi.waitFor(async () => expect(await stage.all(`${path}/dead-letters`)).toHaveLength(1), slow);
  expect(await stage.all(`${path}/dead-letters`)).toMatchObject([
    { attempts: 1, lastOutcome: 'mail_refused' },
  ]);
  expect(await attemptsOf(path)).toMatchObject([
    { attempt: 1, outcome: 'mail_refused', statusCode: 550 },
    { attempt: 2, outcome: 'delivered', statusCode: 250 },
    { attempt: 1, outcome: 'mail_deferred', statusCode: 451 },
  ]);
  await stage.daemon.api.ok('DELETE', path);
});

test('a daemon that is killed while the mail server hangs loses nothing, and the next sends the same e-mail', async () => {
  const from = mails.taken.length;
  const path = await subscribe();
  const seen: (string | undefined)[] = [];
  const hung = Promise.withResolvers<void>();
  mails.onMail = ({ email }) => {
    seen.push(email.messageId);
    hung.resolve();
    return 'hang';
  };
  await stage.move();
  await hung.promise;
  await deliverer.end('SIGKILL');
  mails.onMail = ({ email }) => {
    seen.push(email.messageId);
    return 'take';
  };
  deliverer = await startDeliverer();
  await vi.waitFor(() => expect(mails.taken).toHaveLength(from + 1), slow);
  expect(seen).toHaveLength(2);
  expect(new Set(seen).size).toBe(1);
  await stage.daemon.api.ok('DELETE', path);
});

test('the digest of an account arrives once on the day on which it is set', async () => {
  const from = mails.taken.length;
  const path = await subscribe({ eventTypes: ['account.digest'] });
  const digest = { at: '00:00', zone: 'UTC', days: 'daily' };
  await stage.daemon.api.ok('PATCH', '/v1/accounts/default', { digest });
  await vi.waitFor(() => expect(mails.taken).toHaveLength(from + 1), slow);
  expect(mails.taken.at(-1)?.email.subject).toBe('Digest: 0 rejections: account default');
  await stage.daemon.api.ok('PATCH', '/v1/accounts/default', { digest: null });
  await stage.daemon.api.ok('DELETE', path);
});

test('a registration answers no secret, and no log line has the password of the mail server', async () => {
  const made = await stage.daemon.api.ok<Registered>('POST', subscriptions, { url });
  expect(made.secret).toBeNull();
  await stage.daemon.api.ok('DELETE', `${subscriptions}/${made.id}`);
  const lines = JSON.stringify([...stage.daemon.logs, ...deliverer.logs]);
  expect(lines).toContain('mail.used');
  expect(lines).toContain(`smtps://***@127.0.0.1:${mails.port}`);
  expect(lines).not.toContain(password);
});
