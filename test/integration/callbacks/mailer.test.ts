import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createMailer, type Mail, type MailerOptions } from '../../../src/callbacks/mailer.ts';
import { toEmail } from '../../../src/callbacks/messages/email.ts';
import { toMessage } from '../../../src/callbacks/messages/message.ts';
import { parseMailSender, parseSmtpServer } from '../../../src/egress/smtp-server.ts';
import { startMailServer } from '../../support/receivers/mail-server.ts';

const url = 'mailto:claims@agency.example';
const content = { subject: 'Rejected: Later LLC', text: 'Rejected', html: '<p>Rejected</p>' };
const mail: Mail = { account: 'default', url, eventId: 'evt_1', thread: 'filing_a', content };

function mailerFor(port: number, options: Partial<MailerOptions> & { readonly smtp?: string } = {}) {
  const server = parseSmtpServer(options.smtp ?? `smtp://127.0.0.1:${port}?tls=none`);
  const from = parseMailSender('Filing alerts <alerts@sender.example>');
  if (!server.ok || !from.ok) throw new Error('both are valid');
  const mailer = createMailer({
    server: server.value,
    from: from.value,
    allowDomains: null,
    timeoutMs: 5_000,
    ...options,
  });
  onTestFinished(mailer.close);
  return mailer;
}

test('an e-mail has text and HTML, is threaded by its filing, and has the id of its event on every attempt', async () => {
  await using server = await startMailServer();
  const mailer = mailerFor(server.port);
  const results = [
    await mailer.send(mail, null),
    await mailer.send(mail, null),
    await mailer.send({ ...mail, eventId: 'evt_2', thread: null }, null),
  ];
  expect(results).toMatchObject(
    Array.from({ length: 3 }, () => ({
      outcome: { kind: 'delivered' },
      statusCode: 250,
      response: expect.stringMatching(/^250 /),
    })),
  );
  const [first, again, other] = server.taken;
  expect(first).toMatchObject({ sender: 'alerts@sender.example', recipients: ['claims@agency.example'] });
  expect(first?.email).toMatchObject({
    from: { name: 'Filing alerts', address: 'alerts@sender.example' },
    to: [{ name: '', address: 'claims@agency.example' }],
    subject: content.subject,
    messageId: '<evt_1@sender.example>',
    inReplyTo: '<filing_a@sender.example>',
    references: '<filing_a@sender.example>',
    text: 'Rejected\n',
    html: '<p>Rejected</p>\n',
  });
  expect(first?.email.headers.map(({ key }) => key)).not.toContain('list-unsubscribe');
  expect(first?.email.headers).toContainEqual(
    expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
  );
  expect(again?.email.messageId).toBe('<evt_1@sender.example>');
  expect(other?.email).toMatchObject({ messageId: '<evt_2@sender.example>' });
  expect(other?.email.references).toBeUndefined();
});

test('nothing that others wrote becomes a header or a recipient', async () => {
  await using server = await startMailServer();
  const mailer = mailerFor(server.port);
  const hostile =
    'A\r\nBcc: evil@attacker.example\r\n\r\n.\r\n<script>alert(1)</script> "=?utf-8?q?x?=" \u2028 Ünïcode 名';
  const filing = { insuredsName: hostile, policyNumber: hostile };
  const data = {
    account: 'default',
    filingId: 'f',
    status: 'REJECTED',
    changed: ['status'],
    rejectionReason: hostile,
    filing,
  };
  const message = toMessage({ type: 'filing.rejected', timestamp: '2026-11-21T10:00:03.120Z', data });
  const { outcome } = await mailer.send({ ...mail, content: toEmail(message) }, null);
  expect(outcome.kind).toBe('delivered');
  expect(server.asked).toEqual(['claims@agency.example']);
  const [taken] = server.taken;
  const names = new Set(taken?.email.headers.map(({ key }) => key));
  expect(names).toEqual(
    new Set([
      'from',
      'to',
      'subject',
      'message-id',
      'in-reply-to',
      'references',
      'auto-submitted',
      'date',
      'mime-version',
      'content-type',
    ]),
  );
  expect(taken?.email.subject).toContain('Ünïcode 名');
  expect(taken?.email.html).not.toContain('<script');
  expect(taken?.email.text).toContain('<script>');
});

test.each([
  [450, 'mail_deferred', 'retry', true],
  [550, 'mail_refused', 'refused', undefined],
  [552, 'mail_refused', 'refused', undefined],
])('a %i to a recipient or an e-mail is %s', async (code, outcome, kind, sent) => {
  await using server = await startMailServer();
  const mailer = mailerFor(server.port);
  server.onRecipient = () => ({ code, text: 'No such user here' });
  const expected = {
    outcome: { kind, code: outcome, reason: `The mail server answered ${code}.` },
    statusCode: code,
  };
  const atRecipient = await mailer.send(mail, null);
  expect(atRecipient).toMatchObject({ ...expected, response: expect.stringContaining('No such user here') });
  server.onRecipient = () => 'take';
  server.onMail = () => ({ code, text: 'Not now' });
  const atMail = await mailer.send(mail, null);
  expect(atMail).toMatchObject(expected);
  expect([atRecipient, atMail].map((result) => (result.outcome as { sent?: boolean }).sent)).toEqual([
    sent,
    sent,
  ]);
  server.onMail = () => 'take';
  expect((await mailer.send(mail, null)).outcome.kind).toBe('delivered');
});

test('a server that takes nothing now closes the connection with a 421, which costs no e-mail an attempt', async () => {
  await using server = await startMailServer();
  const mailer = mailerFor(server.port);
  server.onRecipient = () => ({ code: 421, text: 'Too busy' });
  expect(await mailer.send(mail, null)).toMatchObject({
    outcome: { kind: 'retry', code: 'mail_deferred', sent: false },
    statusCode: 421,
    response: expect.stringContaining('Too busy'),
  });
});

test('a server that hangs costs one attempt its time, and no other e-mail anything', async () => {
  await using server = await startMailServer();
  const mailer = mailerFor(server.port);
  server.onMail = ({ recipients }) => (recipients[0] === 'claims@agency.example' ? 'hang' : 'take');
  const hanging = mailer.send(mail, 300);
  const other = await mailer.send({ ...mail, url: 'mailto:other@agency.example' }, null);
  expect(other.outcome.kind).toBe('delivered');
  expect(await hanging).toMatchObject({
    outcome: { kind: 'retry', code: 'timeout', sent: true },
    statusCode: null,
  });
  server.onMail = () => 'take';
  expect((await mailer.send(mail, null)).outcome.kind).toBe('delivered');
});

test('a server that never greets, refuses or does not exist has been told nothing', async () => {
  const silent = createServer(() => undefined);
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const result = await mailerFor(port, { timeoutMs: 400 }).send(mail, null);
  expect(result.outcome).toMatchObject({ kind: 'retry', code: 'timeout', sent: false });
  await new Promise((resolve) => silent.close(resolve));
  const refused = await mailerFor(port).send(mail, null);
  expect(refused.outcome).toMatchObject({ kind: 'retry', code: 'connection_refused', sent: false });
  const unknown = await mailerFor(port, { smtp: 'smtp://mail.invalid' }).send(mail, null);
  expect(unknown.outcome).toMatchObject({ kind: 'retry', code: 'dns_error', sent: false });
});

test.each([
  // An address that the connection takes to this machine, and the rule for such servers does not.
  ['STARTTLS is missing', {}, 'smtp://[::ffff:127.0.0.1]'],
  [
    'the certificate of STARTTLS is not trusted',
    { secure: false, disabledCommands: ['AUTH'] },
    'smtp://127.0.0.1',
  ],
  ['the certificate is not trusted', { secure: true, disabledCommands: ['AUTH'] }, 'smtps://127.0.0.1'],
])('where %s, nothing is sent', async (_, options, smtp) => {
  await using server = await startMailServer(options);
  const result = await mailerFor(server.port, { smtp: `${smtp}:${server.port}` }).send(mail, null);
  expect(result.outcome).toMatchObject({ kind: 'retry', code: 'tls_error', sent: false });
  expect([server.asked, server.arrived]).toEqual([[], []]);
});

test('a server on the same machine need not offer STARTTLS', async () => {
  await using server = await startMailServer();
  const result = await mailerFor(server.port, { smtp: `smtp://127.0.0.1:${server.port}` }).send(mail, null);
  expect(result.outcome).toMatchObject({ kind: 'delivered' });
  expect(server.arrived).toHaveLength(1);
});

test('a login that is refused gives no event up, and its reply is not kept', async () => {
  await using server = await startMailServer({
    secure: false,
    disabledCommands: ['STARTTLS'],
    onAuth: (_auth, _session, callback) => callback(new Error('user s3cret-user is not known')),
  });
  const smtp = `smtp://s3cret-user:s3cret-password@127.0.0.1:${server.port}?tls=none`;
  const result = await mailerFor(server.port, { smtp }).send(mail, null);
  expect(result).toMatchObject({
    outcome: { kind: 'retry', code: 'sender_error', sent: false },
    statusCode: null,
    response: null,
  });
  expect(JSON.stringify(result)).not.toContain('s3cret');
});

test('a sender that is refused for good gives no event up', async () => {
  await using server = await startMailServer({
    onMailFrom: (_address, _session, callback) =>
      callback(Object.assign(new Error('no'), { responseCode: 553 })),
  });
  const result = await mailerFor(server.port).send(mail, null);
  expect(result.outcome).toMatchObject({ kind: 'retry', code: 'sender_error', sent: false });
});

test('a mailbox that SMTP_ALLOW_DOMAINS no longer permits gets nothing', async () => {
  await using server = await startMailServer();
  const result = await mailerFor(server.port, { allowDomains: ['other.example'] }).send(mail, null);
  expect(result.outcome).toMatchObject({ kind: 'retry', code: 'blocked_address', sent: false });
  expect(server.asked).toEqual([]);
});

test('a connection that the server closed between two e-mails is replaced', async () => {
  await using server = await startMailServer({ socketTimeout: 500 });
  const mailer = mailerFor(server.port);
  for (const eventId of ['evt_1', 'evt_2']) {
    expect((await mailer.send({ ...mail, eventId }, null)).outcome).toEqual({
      kind: 'delivered',
      code: 'delivered',
    });
    await vi.waitFor(() => expect(server.connections()).toBe(0));
  }
  expect(server.taken).toHaveLength(2);
});

test('when the process ends, what is under way and what waits is aborted, and costs no attempt', async () => {
  await using server = await startMailServer();
  server.onMail = () => 'hang';
  const mailer = mailerFor(server.port);
  const all = Array.from({ length: 5 }, () => mailer.send(mail, null));
  await vi.waitFor(() => expect(server.arrived.length).toBeGreaterThan(0));
  mailer.abortAll();
  for (const { outcome } of await Promise.all(all)) expect(outcome.kind).toBe('aborted');
  expect((await mailer.send(mail, null)).outcome.kind).toBe('aborted');
});
